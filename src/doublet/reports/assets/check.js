(function () {
  "use strict";
  var root = document.documentElement, body = document.body;
  root.classList.add("js");
  var all = function (q, from) { return Array.prototype.slice.call((from || document).querySelectorAll(q)); };
  var byId = function (id) { return document.getElementById(id); };
  var info = {}, order = [];
  all(".pair").forEach(function (pair) {
    var id = pair.dataset.id;
    info[id] = { from: +pair.dataset.from, to: +pair.dataset.to, source: pair.dataset.source, kind: pair.dataset.kind, colour: pair.dataset.colour, pair: pair, label: pair.dataset.label };
    order.push(id);
  });
  var pieces = all(".f[data-f]").map(function (node) { return { node: node, ids: node.dataset.f.split(" ") }; });
  var inDocument = pieces.filter(function (p) { return p.node.closest(".document"); });
  var live = byId("live"), current = "";

  // What the filters hide: fragment → whether it is hidden.
  function filtered() {
    var off = {}, out = {};
    all("input[name=kind],input[name=source]").forEach(function (box) { off[box.name + " " + box.value] = !box.checked; });
    order.forEach(function (id) { out[id] = !!(off["kind " + info[id].kind] || off["source " + info[id].source]); });
    return out;
  }

  // The fragment that a piece of text stands for: the chosen one, else the first that is not filtered out.
  function paint() {
    var out = filtered();
    order.forEach(function (id) { info[id].pair.hidden = out[id]; });
    all(".chips a[data-id]").forEach(function (a) { a.hidden = out[a.dataset.id]; });
    var before = "", beforeNode = null;
    pieces.forEach(function (piece) {
      var node = piece.node, seen = piece.ids.filter(function (id) { return !out[id]; });
      var id = seen.indexOf(current) >= 0 ? current : seen[0];
      var joined = id && id === before && node.previousSibling === beforeNode;
      var left = node.classList.contains("lo") ? " lo" : "";
      if (!id) { node.className = "f off" + left; } else {
        node.className = "f c" + info[id].colour + " k-" + info[id].kind + left;
        if (id === current) node.classList.add("on");
      }
      if (node.tagName === "A") {
        if (id) { node.setAttribute("href", "#" + id); } else { node.removeAttribute("href"); }
        node.tabIndex = id && !joined ? 0 : -1;
        var badge = node.querySelector(".n");
        if (badge) { badge.hidden = !id || joined; if (id) { badge.firstChild.nodeValue = info[id].source; badge.lastChild.textContent = " " + info[id].label + ": "; } }
      }
      before = id || ""; beforeNode = node;
    });
  }

  function piecesOf(id) { return inDocument.filter(function (p) { return p.ids.indexOf(id) >= 0; }); }

  // Some browsers refuse when it changes many times a second, as when a key is held down.
  function address(to) {
    try { history.replaceState(null, "", to); } catch (error) { /* the page goes on without */ }
  }

  function scrollInside(box, node) {
    var rect = node.getClientRects()[0] || node.getBoundingClientRect();
    box.scrollTop += rect.top - box.getBoundingClientRect().top - box.clientHeight * 0.22;
  }

  function show(id, options) {
    if (!info[id]) return false;
    current = id;
    var now = null;
    all(".beside>article").forEach(function (a) { a.classList.toggle("shown", a.dataset.source === info[id].source); });
    all(".source").forEach(function (row) {
      var chosen = row.dataset.number === info[id].source;
      row.classList.toggle("now", chosen);
      if (chosen) now = row;
    });
    body.classList.add("showing");
    paint();
    if (now) {
      var fold = now.closest("details");
      if (fold) fold.open = true;
      var list = now.closest(".sources"), top = now.getBoundingClientRect().top - list.getBoundingClientRect().top;
      if (top < 0 || top + now.offsetHeight > list.clientHeight) list.scrollTop += top - 8;
    }
    var at = byId(id);
    if (at) {
      var box = at.closest(".text");
      if (box && box.closest(".beside")) scrollInside(box, at);
    }
    var first = piecesOf(id)[0];
    if (first) {
      var place = first.node.getClientRects()[0];
      var narrow = window.matchMedia("(max-width:56rem)").matches;
      var bottom = window.innerHeight * (narrow ? 0.5 : 0.9);
      if (options.scroll || !place || place.top < 0 || place.bottom > bottom) {
        window.scrollBy(0, place.top - window.innerHeight * (narrow ? 0.18 : 0.3));
      }
      if (options.focus) first.node.focus({ preventScroll: true });
    }
    if (options.address !== false) address("#" + id);
    live.textContent = info[id].label;
    return true;
  }

  function close() {
    var was = piecesOf(current)[0];
    current = "";
    body.classList.remove("showing");
    all(".source.now").forEach(function (row) { row.classList.remove("now"); });
    all(".beside>article").forEach(function (a) { a.classList.remove("shown"); });
    paint();
    address(location.pathname + location.search);
    live.textContent = "";
    if (was) was.node.focus({ preventScroll: true });
  }

  function step(by) {
    // One stop for each passage: other sources that have nothing but words of it are not stopped at.
    var end = -1, stops = order.filter(function (id) {
      if (info[id].pair.hidden || info[id].pair.classList.contains("left") || info[id].to <= end) return false;
      end = info[id].to;
      return true;
    });
    if (!stops.length) return;
    var at = -1;
    if (current) stops.forEach(function (id, place) { if (info[id].from <= info[current].from) at = place; });
    at = at < 0 ? (by > 0 ? 0 : stops.length - 1) : (at + by + stops.length) % stops.length;
    show(stops[at], { focus: true });
  }

  document.addEventListener("click", function (event) {
    var link = event.target.closest("a[href^='#']");
    var button = event.target.closest("button[data-do]");
    if (button) {
      if (button.dataset.do === "close") close(); else step(button.dataset.do === "next" ? 1 : -1);
      return;
    }
    if (!link) return;
    var inText = link.classList.contains("f");
    if (show(decodeURIComponent(link.hash.slice(1)), { scroll: !inText, focus: inText })) event.preventDefault();
  });
  document.addEventListener("keydown", function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    var typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    var piece = event.target.classList && event.target.classList.contains("f");
    if (piece && (event.key === " " || event.key === "Enter")) { event.preventDefault(); event.target.click(); }
    else if (event.key === "Escape" && current) close();
    else if (typing) return;
    else if (event.key === "n" || event.code === "KeyN" || (piece && event.key === "ArrowRight")) { event.preventDefault(); step(1); }
    else if (event.key === "p" || event.code === "KeyP" || (piece && event.key === "ArrowLeft")) { event.preventDefault(); step(-1); }
  });
  document.addEventListener("change", function (event) {
    if (event.target.name !== "kind" && event.target.name !== "source") return;
    if (current && filtered()[current]) { current = ""; body.classList.remove("showing"); }
    paint();
    var left = order.filter(function (id) { return !info[id].pair.hidden; }).length;
    live.textContent = live.dataset.filtered.replace("{shown}", left).replace("{all}", order.length);
  });
  function fromAddress() {
    var id = "";
    try { id = decodeURIComponent(location.hash.slice(1)); } catch (error) { return; }
    show(id, { scroll: true, focus: false, address: false });
  }
  window.addEventListener("hashchange", fromAddress);
  paint();
  if (document.readyState === "complete") fromAddress(); else window.addEventListener("load", fromAddress);
})();
