// Counts with bars: how often tokens occur before and after augmentation, and why samples were rejected.

const RARITIES_AT_ONCE = 30;

const rarityRow =
  (most) =>
  ({ token, before, after }) => {
    const share = (number) => Math.log1p(number) / Math.log1p(most);
    const bars = make("div", { class: "bars" }, bar(share(before), "before"), bar(share(after), "after"));
    return [named(token), count(before), count(after), bars];
  };

const showRarity = () => {
  const place = at("rarity-table");
  if (!run.rarity.length) return nothing(place, "No token was counted.");
  const most = Math.max(...run.rarity.map(({ before, after }) => Math.max(before, after)));
  const whose = run.samples.length ? ` with the new examples of ${run.samples[0].method}, first seed` : "";
  const bars = `before (hollow), after (solid)${whose}. Bars are logarithmic.`;
  const caption = `Training examples with something rare in them: ${bars}`;
  const rows = run.rarity.map(rarityRow(most));
  const shownRows = (number) => table(caption, ["rare", "before", "after", ""], rows.slice(0, number));
  place.append(shownRows(RARITIES_AT_ONCE));
  if (rows.length > RARITIES_AT_ONCE) {
    const button = make("button", { type: "button" }, `Show all ${count(rows.length)}`);
    button.addEventListener("click", () => place.replaceChildren(shownRows(rows.length)));
    place.append(button);
  }
};

const showRejected = () => {
  const reasons = Object.entries(run.rejected).sort(([, one], [, other]) => other - one);
  const all = reasons.reduce((sum, [, number]) => sum + number, 0);
  if (!all) return nothing(at("rejected-table"), "No sample was rejected.");
  const rows = reasons.map(([reason, number]) => [
    reason,
    count(number),
    percent(number, all),
    bar(number / all, "after"),
  ]);
  at("rejected-table").append(
    table(
      `${counted(all, "sample", "samples")} of all methods and seeds, by reason`,
      ["reason", "samples", "share", ""],
      rows,
    ),
  );
};

const showTurnedDown = () => {
  const reasons = [...new Set(run.turned_down.map(({ reason }) => reason))];
  at("turned-down").append(
    ...reasons.map((reason) => {
      const examples = run.turned_down.filter((each) => each.reason === reason);
      return make(
        "details",
        {},
        make("summary", {}, `${reason}: ${counted(examples.length, "example", "examples")}`),
        make(
          "ul",
          { class: "plain" },
          examples.map((each) => make("li", {}, plainPair(each))),
        ),
      );
    }),
  );
};
