// Small helpers of all pages: dropped files, copied secrets, one press of a button, pages that reload when work is done.
(() => {
  "use strict";
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));

  const listFiles = (box) => {
    const list = box.querySelector("[data-list]");
    const input = box.querySelector("input[type=file]");
    list.replaceChildren(...Array.from(input.files).slice(0, 30).map((file) => {
      const item = document.createElement("li");
      item.textContent = file.name;
      return item;
    }));
  };
  const wireDrops = () => all("[data-drop]").forEach((box) => {
    const input = box.querySelector("input[type=file]");
    input.addEventListener("change", () => listFiles(box));
    for (const name of ["dragenter", "dragover"]) {
      box.addEventListener(name, (event) => { event.preventDefault(); box.classList.add("over"); });
    }
    for (const name of ["dragleave", "drop"]) box.addEventListener(name, () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      if (event.dataTransfer.files.length) { input.files = event.dataTransfer.files; listFiles(box); }
    });
  });
  // A file dropped beside the field must not replace the page.
  for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());

  document.addEventListener("click", (event) => {
    const copy = event.target.closest("[data-copy]");
    if (copy) {
      const input = copy.parentElement.querySelector("input");
      input.select();
      if (navigator.clipboard) navigator.clipboard.writeText(input.value); else document.execCommand("copy");
    }
  });
  document.addEventListener("submit", (event) => {
    const button = event.target.querySelector("[data-go]");
    if (button) { button.setAttribute("aria-busy", "true"); setTimeout(() => { button.disabled = true; }, 0); }
    const ask = event.target.dataset.confirm;
    if (ask && !window.confirm(ask)) { event.preventDefault(); if (button) button.disabled = false; }
  });
  window.addEventListener("pageshow", () => all("[data-go]").forEach((button) => { button.disabled = false; button.removeAttribute("aria-busy"); }));
  document.addEventListener("htmx:afterSwap", (event) => {
    const done = event.target.querySelector && event.target.querySelector("[data-reload]");
    if (done) window.location.reload();
  });
  const start = () => {
    wireDrops();
    const here = document.querySelector(".nav [aria-current]");  // on a phone the navigation is scrolled sideways
    if (here) here.parentElement.scrollLeft = here.offsetLeft - here.parentElement.offsetLeft - 40;
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start); else start();
})();
