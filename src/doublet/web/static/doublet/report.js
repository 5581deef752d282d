// The report: a passage opens its source beside the text; n and p walk passage by passage; the strip and the filter.
(() => {
  "use strict";
  const text = document.getElementById("document");
  if (!text) return;
  const side = document.getElementById("side");
  const rail = document.querySelector("[data-rail]");
  const beside = document.getElementById("beside");
  const place = document.querySelector("[data-place]");
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  let current = null;
  let shortest = 0;

  const heads = () => all("a.mk[id]", text).filter((link) => words(link) >= shortest);
  const pieces = (id) => all("a.mk", text).filter((link) => link.dataset.f.split(" ").includes(id));
  const words = (link) => pieces(link.id.slice(2)).reduce((sum, one) => sum + one.textContent.trim().split(/\s+/).length, 0);

  const show = async (id, address, moveFocus) => {
    const response = await fetch(address, { headers: { "X-Part": "1" }, credentials: "same-origin" });
    if (!response.ok) { window.location.href = address; return; }
    beside.innerHTML = await response.text();
    side.classList.add("open");
    const there = beside.querySelector("[data-here]");
    const box = beside.querySelector("[data-scroll]");
    if (there && box) box.scrollTop = there.offsetTop - box.offsetTop - 60;
    side.scrollTop = 0;
    rail.scrollTop = 0;
    mark(id);
    history.replaceState(null, "", `#f-${id}`);
    if (moveFocus) side.focus();
  };
  const mark = (id) => {
    all(".mk.current", text).forEach((one) => one.classList.remove("current"));
    const own = pieces(id);
    own.forEach((one) => one.classList.add("current"));
    current = id;
    const list = heads();
    const number = list.findIndex((one) => one.id === `f-${id}`);
    if (place) place.textContent = number >= 0 ? `${number + 1} / ${list.length}` : "";
    return own[0];
  };
  const walk = (step) => {
    const list = heads();
    if (!list.length) return;
    let number = list.findIndex((one) => one.id === `f-${current}`);
    number = number < 0 ? (step > 0 ? 0 : list.length - 1) : (number + step + list.length) % list.length;
    const link = list[number];
    link.scrollIntoView({ block: "center" });
    link.focus({ preventScroll: true });
    show(link.id.slice(2), link.href, false);
  };
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-f]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      const id = link.dataset.other !== undefined || !link.classList.contains("mk") ? link.dataset.f : new URL(link.href).searchParams.get("fragment");
      show(id, link.href, false);
      if (!link.classList.contains("mk")) { const first = pieces(id)[0]; if (first) first.scrollIntoView({ block: "center" }); }
      return;
    }
    const rect = event.target.closest("rect[data-f]");
    if (rect) {
      const first = pieces(rect.dataset.f)[0];
      if (first) { first.scrollIntoView({ block: "center" }); show(rect.dataset.f, first.href.replace(/fragment=.*/, `fragment=${encodeURIComponent(rect.dataset.f)}`), false); }
      return;
    }
    const go = event.target.closest("[data-go-to]");
    if (go) walk(go.dataset.goTo === "next" ? 1 : -1);
    if (event.target.closest("[data-close]")) side.classList.remove("open");
  });
  const filter = document.querySelector("[data-filter-words]");
  if (filter) filter.addEventListener("change", () => { shortest = Number(filter.value); mark(current || ""); });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
    if (event.key === "n") walk(1);
    else if (event.key === "p") walk(-1);
    else if (event.key === "Escape") { side.classList.remove("open"); const link = current && document.getElementById(`f-${current}`); if (link) link.focus(); }
  });
  const named = window.location.hash.match(/^#f-(.+)$/);
  if (named) { const link = document.getElementById(`f-${decodeURIComponent(named[1])}`); if (link) { link.scrollIntoView({ block: "center" }); show(link.id.slice(2), link.href, false); } }
})();
