// Keys of the cards: j and k go to the next and the previous one, o opens its text, the number of a grade decides.

const cards = [...document.querySelectorAll(".differing > li")];

function go(card) {
  if (!card) return;
  card.focus({ preventScroll: true });
  card.scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.isComposing || event.target.closest("input, textarea, select") !== null;
  const isHeld = event.repeat && /^\d$/.test(event.key); // it decided a document; the page may show the next one by now
  if (isTyping || isHeld || event.ctrlKey || event.metaKey || event.altKey) return;
  const here = document.activeElement.closest(".differing > li");
  const place = cards.indexOf(here);
  if (event.key === "j") go(cards[place + 1]);
  else if (event.key === "k") go(cards[Math.max(place - 1, 0)]);
  else if (event.key === "o" && here) here.querySelector("details.text")?.toggleAttribute("open");
  else if (/^\d$/.test(event.key) && here) here.querySelector(`button[data-key="${event.key}"]`)?.click();
  else return;
  event.preventDefault();
});

// After a decision the page opens at the card that follows.
if (location.hash.startsWith("#card-")) go(document.getElementById(location.hash.slice(1)) ?? cards.at(-1));
