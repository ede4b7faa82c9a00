// The heat map of a sample: where the network looked in each prototype while it produced each token.

const CELL = 20;
const CHARACTER = 7.4; // about the width of one

const widest = (tokens) => CHARACTER * Math.max(3, ...tokens.map((token) => [...short(token)].length));

const heatCells = (weights) =>
  weights.flatMap((step, column) =>
    step.map((weight, row) =>
      draw("rect", {
        class: "heat",
        x: column * CELL + 1,
        y: row * CELL + 1,
        width: CELL - 2,
        height: CELL - 2,
        "fill-opacity": Math.min(1, Math.max(0, weight)).toFixed(3),
      }),
    ),
  );

const gridLines = (columns, rows) =>
  draw("path", {
    class: "grid",
    d:
      Array.from({ length: columns + 1 }, (_, column) => `M${column * CELL} 0V${rows * CELL}`).join("") +
      Array.from({ length: rows + 1 }, (_, row) => `M0 ${row * CELL}H${columns * CELL}`).join(""),
  });

/** One grid for each prototype, with what was produced along the top; returns the picture and where its grids are. */
const heatPicture = ({ tokens, prototypes, weights }) => {
  const left = Math.max(...prototypes.map(widest), 90) + 8;
  const top = widest(tokens) + 10;
  const grids = [];
  const parts = tokens.map((token, column) => {
    const place = `translate(${left + column * CELL + CELL / 2 + 4} ${top - 6}) rotate(-90)`;
    return draw("text", { transform: place }, short(token));
  });
  let y = top;
  prototypes.forEach((prototype, k) => {
    grids.push({ k, left, top: y, columns: tokens.length, rows: prototype.length });
    parts.push(
      draw(
        "g",
        { transform: `translate(${left} ${y})` },
        heatCells(weights[k]),
        gridLines(tokens.length, prototype.length),
      ),
      prototype.map((token, row) =>
        draw("text", { x: left - 6, y: y + row * CELL + 14, class: "end" }, short(token)),
      ),
    );
    y += prototype.length * CELL;
    parts.push(draw("text", { x: left, y: y + 15, class: "name" }, `prototype ${k + 1}`));
    y += 26;
  });
  const width = left + Math.max(tokens.length * CELL, 90) + 4;
  return {
    grids,
    picture: draw("svg", { class: "heat-map", width, height: y, viewBox: `0 0 ${width} ${y}` }, ...parts.flat()),
  };
};

/** The heat map with a cursor that pointer and arrow keys move, and a line that reads the cell under it. */
const heatMap = (attention) => {
  const { grids, picture } = heatPicture(attention);
  const rows = grids.flatMap((grid) => Array.from({ length: grid.rows }, (_, row) => ({ grid, row })));
  const cursor = draw("rect", { class: "cell-cursor", width: CELL, height: CELL, visibility: "hidden" });
  const readout = make("p", { class: "readout", role: "status" });
  const chosen = { column: 0, line: 0 };
  const choose = (column, line) => {
    chosen.column = Math.min(attention.tokens.length - 1, Math.max(0, column));
    chosen.line = Math.min(rows.length - 1, Math.max(0, line));
    const { grid, row } = rows[chosen.line];
    filled(cursor, { x: grid.left + chosen.column * CELL, y: grid.top + row * CELL, visibility: "visible" }, []);
    const weight = attention.weights[grid.k][chosen.column][row];
    readout.textContent =
      `While producing ${quoted(attention.tokens[chosen.column])}: ${weight.toFixed(2)} on ` +
      `${quoted(attention.prototypes[grid.k][row])} of prototype ${grid.k + 1}.`;
    cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  picture.append(cursor);
  const label = "Attention to the prototypes, a column for each token of the sample. Arrow keys read off weights.";
  const frame = make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": label }, picture);
  if (!rows.length || !attention.tokens.length) return frame;
  onPointer(picture, ({ clientX, clientY }) => {
    const box = picture.getBoundingClientRect();
    const column = Math.floor((clientX - box.left - grids[0].left) / CELL);
    const line = rows.findIndex(({ grid, row }) => Math.floor((clientY - box.top - grid.top) / CELL) === row);
    if (column >= 0 && column < attention.tokens.length && line >= 0) choose(column, line);
  });
  frame.addEventListener("keydown", (event) => {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!(event.key in moves)) return;
    event.preventDefault();
    choose(chosen.column + moves[event.key][0], chosen.line + moves[event.key][1]);
  });
  frame.addEventListener("focus", () => choose(chosen.column, chosen.line));
  return make("div", {}, frame, readout);
};
