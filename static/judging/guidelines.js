// Guidelines that changed while the screen is open: the sheet shows the new ones, with the form that accepts them.

let shown = null;

/** Put the guidelines of this number, from their own page, into the sheet; without a sheet the notice has a link. */
export async function showChangedGuidelines(number) {
  const sheet = document.getElementById("guidelines");
  if (number === shown || !sheet) return;
  shown = number;
  try {
    const answer = await fetch(document.querySelector("#guidelines-changed a").href, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.statusText);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const text = page.querySelector("#main .prose");
    if (!text) throw new Error("the page has no guidelines");
    sheet.querySelector(".prose").replaceWith(text);
    const form = page.querySelector("#main form:has([name=number])");
    sheet.querySelector("form")?.remove();
    if (form) sheet.append(form);
  } catch {
    // With the next answer.
    shown = null;
  }
}
