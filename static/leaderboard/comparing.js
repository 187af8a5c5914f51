// Two ticked runs of the leaderboard lead to the page that compares them; a third tick replaces the first.

const form = document.getElementById("compare");
const button = form?.querySelector("button");
let ticked = [];

function onTick({ target }) {
  ticked = ticked.filter((tick) => tick !== target);
  if (target.checked) ticked.push(target);
  while (ticked.length > 2) ticked.shift().checked = false;
  button.hidden = ticked.length < 2;
}

if (form) {
  document.addEventListener("change", (event) => event.target.form === form && onTick(event));
  form.addEventListener("formdata", ({ formData }) => {
    formData.delete("run");
    ["first", "second"].forEach((name, index) => formData.set(name, ticked[index]?.value ?? ""));
  });
  for (const tick of document.querySelectorAll("input[form=compare]")) tick.checked = false; // kept by the browser
}
