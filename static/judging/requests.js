// Requests of one person: with a token that is renewed, and with an end to waiting.

const MILLISECONDS_TO_ANSWER = 30_000;
export const NOBODY = new Set(["signed-out", "somebody-else"]);

/** An answer as { status, data }: status 0 when nothing came, no data when it could not be read. */
export async function ask(url, options = {}) {
  const stopper = new AbortController();
  const timer = setTimeout(() => stopper.abort(), MILLISECONDS_TO_ANSWER);
  try {
    const answer = await fetch(url, {
      ...options,
      headers: { Accept: "application/json", ...options.headers },
      cache: "no-store",
      signal: stopper.signal,
    });
    return { status: answer.status, data: await answer.json().catch(() => null) };
  } catch {
    return { status: 0, data: null };
  } finally {
    clearTimeout(timer);
  }
}

export class Link {
  constructor({ person, csrf, session }) {
    Object.assign(this, { person, csrf, session });
    this.isStale = false;
  }

  /** Send JSON: { data } of the answer, and { trouble } when the answer was none or a refusal. */
  async post(url, body) {
    if (this.isStale) {
      const trouble = await this.renew();
      if (trouble) return { trouble };
    }
    let answer = await this.send(url, body);
    if (answer.status === 400) {
      // Most likely the token has grown too old.
      this.isStale = true;
      const trouble = await this.renew();
      if (trouble) return { trouble };
      answer = await this.send(url, body);
    }
    if (answer.status === 401) this.isStale = true;
    return { data: answer.data, trouble: troubleOf(answer) };
  }

  /** Send a form, which has its token: { status, data } of the answer. */
  postForm(url, body) {
    return ask(url, { method: "POST", body });
  }

  get(url) {
    return ask(url);
  }

  send(url, body) {
    const headers = { "Content-Type": "application/json", "X-CSRFToken": this.csrf };
    return ask(url, { method: "POST", headers, body: JSON.stringify(body) });
  }

  /** A fresh token, for the same person only. */
  async renew() {
    const answer = await ask(this.session);
    if (answer.status !== 200 || !answer.data?.csrf) return troubleOf(answer) ?? { kind: "unreachable" };
    if (answer.data.person !== this.person) return { kind: "somebody-else", name: answer.data.name };
    this.csrf = answer.data.csrf;
    this.isStale = false;
    for (const field of document.querySelectorAll("input[name=csrf_token]")) field.value = this.csrf;
    return null;
  }
}

function troubleOf({ status, data }) {
  if (status === 401) return { kind: "signed-out" };
  if (status >= 400 && status < 500 && data?.sentence) return { kind: "refused", status, sentence: data.sentence };
  return status >= 200 && status < 300 && data ? null : { kind: "unreachable" };
}
