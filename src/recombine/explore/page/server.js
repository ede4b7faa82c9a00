// Asks the server: JSON in, JSON out.

/** Returns the answer; throws an Error with the server's sentence if it refuses. */
export async function ask(path, body) {
  const request = body === undefined
    ? {}
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let response;
  try {
    response = await fetch(`/api/${path}`, request);
  } catch {
    throw new Error("The server does not answer. Is recombine explore still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? `The server failed (${response.status}).`);
  return answer;
}
