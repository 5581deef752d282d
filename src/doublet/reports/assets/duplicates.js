"use strict";
const groups = [...document.querySelectorAll(".group")];
const search = document.getElementById("search");
const kind = document.getElementById("kind");
const ticked = document.getElementById("ticked");
const ticks = () => groups.flatMap((group) => [...group.querySelectorAll("input:checked")]);
function count() {
  ticked.textContent = ticked.dataset.text.replace("%s", ticks().length);
}
function filter() {
  const wanted = search.value.trim().toLowerCase();
  for (const group of groups) {
    const fits = !kind || kind.value === "every" || group.dataset.kind === kind.value;
    group.hidden = !fits || !group.textContent.toLowerCase().includes(wanted);
  }
}
function save() {
  const cell = (text) => (/[",\r\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text);
  const rows = ticks().map((one) => cell(one.dataset.keep) + "," + cell(one.dataset.id) + "\n");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(["keep,id\n", ...rows], { type: "text/csv" }));
  link.download = "duplicates.csv";
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
document.addEventListener("change", (event) => {
  if (event.target.type === "checkbox") count();
});
search.addEventListener("input", filter);
if (kind) kind.addEventListener("change", filter);
document.getElementById("save").addEventListener("click", save);
count();
