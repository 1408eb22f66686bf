// The dynamic part of pages: they follow the lab, remember a theme, accept dropped files, and have sliders. Without this file
// every page is complete and its forms work.
'use strict';
const base = document.documentElement.dataset.base || ''; // the path that the server lies below
const $ = (selector, root = document) => root.querySelector(selector);
const $$ = (selector, root = document) => [...root.querySelectorAll(selector)];

const made = new Map($$('[data-swap]').map((part) => [part, part.innerHTML])); // parts as the server made them last

/* Chosen runs: kept in the address, so that they last while the list is filtered, sorted, turned over and shared */

const list = $('#list');
if (list) list.addEventListener('change', (e) => { if (e.target.type === 'checkbox') keepChosen(); });

// keepChosen writes the chosen runs into the address, and into the links and forms of the list, which an update may just have replaced.
function keepChosen() {
  const hidden = (hash) => Object.assign(document.createElement('input'), { type: 'hidden', name: 'run', value: hash });
  const boxes = $$('input[type=checkbox]', list), address = new URL(location.href);
  const away = address.searchParams.getAll('run').filter((hash) => !boxes.some((b) => b.value.startsWith(hash)));
  const chosen = away.concat(boxes.filter((b) => b.checked).map((b) => b.value));
  const put = (url) => { url.searchParams.delete('run'); for (const hash of chosen) url.searchParams.append('run', hash); return url; };
  history.replaceState(history.state, '', put(address));
  for (const a of $$('a[data-list]', list)) a.href = put(new URL(a.href));
  for (const i of $$('[data-keeps] input[name=run]', list)) i.remove();
  $('[data-keeps]', list)?.append(...chosen.map(hidden));
  $('[data-elsewhere]', list)?.replaceChildren(...away.map(hidden));
}

/* Themes */

const root = document.documentElement;

// chooseTheme sets the colours of this and later pages; '' stands for those of the system.
function chooseTheme(to) {
  if (to) root.dataset.theme = to; else delete root.dataset.theme;
  document.cookie = 'collapse-theme=' + to + '; path=/; max-age=31536000; samesite=lax';
  $('meta[name=color-scheme]').content = to || 'light dark';
  for (const a of $$('[data-theme-to]')) if (a.dataset.themeTo === to) a.setAttribute('aria-current', 'true'); else a.removeAttribute('aria-current');
  draw.again();
}

for (const a of $$('[data-theme-to]')) a.onclick = (e) => { e.preventDefault(); chooseTheme(a.dataset.themeTo); };
matchMedia('(prefers-color-scheme:dark)').addEventListener('change', () => draw.again());

// Paper is white: curves are drawn in the colours of the light theme while the page is printed.
let onScreen;
addEventListener('beforeprint', () => { onScreen = root.dataset.theme; root.dataset.theme = 'light'; draw.again(); });
addEventListener('afterprint', () => { if (onScreen) root.dataset.theme = onScreen; else delete root.dataset.theme; draw.again(); });

/* Figures, drawn when they come into sight */

const sight = new IntersectionObserver((seen) => {
  for (const s of seen) {
    if (!s.isIntersecting) continue;
    sight.unobserve(s.target);
    draw.enhance(s.target).catch((err) => say(err.message));
  }
}, { rootMargin: '300px' });

function watch(root) {
  for (const f of $$('figure[data-json]', root)) {
    if (f.closest('#theory, .twice') || f.closest('details:not([open])')) continue;
    sight.observe(f);
  }
}
watch(document);
for (const d of $$('details.fold')) d.addEventListener('toggle', () => { if (d.open) watch(d); });

/* Cards of studies: what was found, asked for when a card comes into sight */

const summaries = new Map(); // address → { text, at }
const cards = new IntersectionObserver((seen) => {
  for (const s of seen) {
    if (!s.isIntersecting) continue;
    cards.unobserve(s.target);
    summarise(s.target).catch(() => {});
  }
}, { rootMargin: '200px' });

async function summarise(box) {
  const url = box.dataset.summary, known = summaries.get(url);
  if (known) box.innerHTML = known.text; // from this server, which has escaped it
  if (known && Date.now() - known.at < 30000) return;
  const answer = draw.charge(await fetch(url, { headers: { Accept: 'text/html' } }));
  if (!answer.ok) return;
  const text = await answer.text();
  summaries.set(url, { text, at: Date.now() });
  if (!known || known.text !== text) box.innerHTML = text;
}

function fillCards(root) { for (const box of $$('[data-summary]', root)) cards.observe(box); }
fillCards(document);

/* The lab, live */

const status = $('#status');
function say(words) { if (status) status.textContent = words; }

let last = null, dirty = false, busy = false, anew = false, lately = 0, pause = 0, timer = 0, told = 0, hurry = 0;

function hear(message) {
  if (message.lost) { say(message.closed ? 'not connected' : 'connecting …'); return; }
  const state = message.state, before = last;
  last = state;
  if (state.lost) { say(state.lost); return; }
  say('live');
  const follow = document.body.dataset.live;
  if (!before && follow && behind(follow, state)) later(0);
  if (!before || !follow) return;
  if (before.lost) { anew = true; refresh(); return; }
  if (!document.hidden) for (const e of $$('[data-epoch]')) { const m = state.runs[e.dataset.epoch]; if (m) e.textContent = m.epoch; }
  if (follow === 'list') {
    if (state.list !== before.list) refresh();
    else if (state.version !== before.version) later(2000);
    return;
  }
  const a = before.runs[follow], b = state.runs[follow];
  if (b && (!a || a.status !== b.status || b.epoch < a.epoch)) { anew = true; refresh(); }
  else if (b && a.epoch !== b.epoch) { if (later(650) > 100) soon(); }
}

// behind reports whether a run went on between the making of its page and the first message.
function behind(follow, state) {
  const shown = $('[data-tile="epoch"]'), now = state.runs[follow];
  return shown && now && parseInt(shown.textContent, 10) < now.epoch;
}

// later schedules a refresh, at least so many milliseconds after the last one and no sooner than the server allows. It returns the
// delay in milliseconds.
function later(wait) {
  const left = Math.max(0, lately + Math.max(wait, pause) - Date.now());
  clearTimeout(timer);
  timer = setTimeout(refresh, left);
  return left;
}

// soon adds new data to a run's tiles and curves, so that these need not wait until the whole page may be requested again.
function soon() {
  if (!hurry) hurry = setTimeout(news, Math.max(0, told + 600 - Date.now()));
}

async function news() {
  hurry = 0;
  if (document.hidden) { dirty = true; return; }
  if (busy) { hurry = setTimeout(news, 50); return; }
  busy = true;
  told = Date.now();
  try {
    await grow();
  } catch (err) {
    dirty = true; // the whole page shows what is wrong
  } finally {
    busy = false;
    if (dirty) later(650);
  }
}

// grow requests the data that a run's curves and tiles lack. A figure that changed in more than new points is redrawn.
async function grow() {
  const more = $('#more figure[data-drawn]') ? '&more' : '';
  const fresh = await draw.load(base + '/run/' + document.body.dataset.live + '/news?after=' + draw.extent($('#pictures')) + more);
  for (const dd of $$('[data-tile]')) if (dd.dataset.tile in fresh.tiles) dd.textContent = fresh.tiles[dd.dataset.tile];
  const figures = fresh.figures.map((d) => [document.getElementById('figure-' + d.id), d]).filter(([f]) => f && 'drawn' in f.dataset);
  await Promise.all(figures.map(([f, definition]) => draw.extend(f, definition) || draw.enhance(f)));
}

// refresh updates the page; calls during an update, or while the page is hidden, are combined into one call afterwards.
async function refresh() {
  if (busy || document.hidden) { dirty = true; return; }
  const whole = anew || document.body.dataset.live === 'list';
  busy = true;
  dirty = anew = false;
  lately = Date.now();
  draw.settle();
  let wait = 650;
  try {
    const own = $$('figure[data-drawn]').filter((f) => !$('[data-panel] > svg', f)).map((f) => f.dataset.figure);
    const answer = draw.charge(await fetch(location.href, { headers: { Accept: 'text/html', 'Collapse-Drawn': own.join(' ') } }));
    if (!answer.ok) { say('the lab cannot be read now'); dirty = true; wait = 2000; return; }
    if (document.querySelector('main > .narrow')) { location.reload(); return; }
    const next = new DOMParser().parseFromString(await answer.text(), 'text/html'), frames = $('[data-film]', next) && $$('form.film option', next).map((o) => Number(o.value));
    take(next);
    if (whole) await Promise.all($$('[data-figures] figure[data-drawn]').map((f) => draw.enhance(f)));
    else await grow();
    await film.follow(frames || []);
  } catch (err) {
    anew = anew || whole;
    say('connecting …');
    dirty = true; // nobody else may write for a long time
    wait = 2000;
  } finally {
    busy = false;
    pause = draw.settle();
    if (dirty) later(wait);
  }
}

document.addEventListener('visibilitychange', () => { if (!document.hidden && dirty) refresh(); });

// take swaps in the parts of a new version of the page, and keeps what the reader has chosen, unfolded and focused.
function take(next) {
  for (const part of $$('[data-swap]')) {
    const fresh = next.getElementById(part.id);
    if (!fresh || !part.id || fresh.innerHTML === made.get(part)) continue;
    const chosen = $$('input:checked', part).map((i) => i.value);
    const open = $$('details', part).map((d) => d.open);
    const places = () => $$('a, button, input, select, summary', part);
    const had = places().indexOf(document.activeElement), focused = had < 0 ? null : document.activeElement;
    const name = (e) => e.getAttribute('href')?.replace(/[?&]run=[^&]*/g, '') || e.value;
    draw.drop(part);
    made.set(part, fresh.innerHTML);
    part.replaceChildren(...fresh.childNodes);
    fillCards(part);
    for (const i of $$('input[type=checkbox]', part)) i.checked = chosen.includes(i.value);
    $$('details', part).forEach((d, i) => { d.open = open[i] || false; });
    if (focused) (places().find((e) => name(e) && name(e) === name(focused)) || [places()[had]].find((e) => e?.tagName === focused.tagName))?.focus();
  }
  if (list && new URL(location.href).searchParams.has('run')) keepChosen();
  for (const box of $$('[data-figures]:not([data-swap])')) {
    const fresh = next.getElementById(box.id);
    if (!fresh) continue;
    for (const f of $$('figure', fresh)) {
      const mine = document.getElementById(f.id);
      if (!mine && !f.closest('details')) { $$(':scope > p', box).forEach((p) => p.remove()); box.insertBefore(f, $('details', box)); watch(box); continue; }
      if (!mine) continue;
      const numbers = [$('.numbers .scroll', f), $('.numbers .scroll', mine)];
      if (numbers[0] && numbers[1]) numbers[1].replaceWith(numbers[0]);
      if ('drawn' in mine.dataset) {
        for (const svg of $$('[data-panel] > svg', f)) { // panels that only the server draws
          const at = $('[data-panel="' + CSS.escape(svg.parentElement.dataset.panel) + '"] > svg', mine);
          if (at) at.replaceWith(svg);
        }
      } else if (!('deferred' in mine.dataset)) { $('.panels', mine).replaceWith($('.panels', f)); }
    }
    const fold = $('details', fresh);
    if (fold && !$('details', box)) { box.append(fold); fold.addEventListener('toggle', () => { if (fold.open) watch(fold); }); }
  }
}

function listen() {
  if (typeof SharedWorker === 'function') {
    try {
      const worker = new SharedWorker(base + '/assets/worker.js');
      worker.onerror = direct;
      worker.port.onmessage = (e) => hear(e.data);
      addEventListener('pagehide', () => worker.port.postMessage('gone'));
      return;
    } catch (err) { /* fall through to a stream of this page's own */ }
  }
  direct();
}

function direct() {
  const stream = new EventSource(base + '/events');
  stream.onmessage = (e) => hear({ state: JSON.parse(e.data) });
  stream.onerror = () => hear({ lost: true, closed: stream.readyState === EventSource.CLOSED });
  addEventListener('pagehide', () => stream.close());
}
addEventListener('pageshow', (e) => { if (e.persisted) location.reload(); });

/* Features, epoch by epoch */

const film = (() => {
  const part = $('[data-film]'), form = part && $('form.film', part);
  if (!form) return { follow: async (more) => { if (!part && more.length) await appear(); } };
  let epochs = $$('option', form).map((o) => Number(o.value)), newest = 'newest' in part.dataset;
  const slider = Object.assign(document.createElement('input'), { type: 'range', min: 0, max: epochs.length - 1, value: Math.max(0, epochs.indexOf(Number(part.dataset.epoch))) });
  const shown = document.createElement('output'), play = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Play' });
  slider.setAttribute('aria-label', 'Epoch');
  const label = document.createElement('label');
  label.append('Epoch ', slider, ' ', shown);
  form.replaceChildren(label, play);
  let wanted = null, loading = false;
  const words = () => { shown.textContent = epochs[slider.value] + ' of ' + epochs[epochs.length - 1]; };

  async function show() {
    wanted = epochs[slider.value];
    words();
    if (loading) return;
    loading = true;
    try {
      while (wanted !== null) {
        const epoch = wanted;
        wanted = null;
        const all = await draw.load(part.dataset.film + '/all.json?epoch=' + epoch);
        for (const definition of all) {
          const element = document.getElementById('figure-' + definition.id);
          if (!element) continue;
          element.dataset.json = part.dataset.film + '/' + definition.id + '.json?epoch=' + epoch;
          for (const a of $$('.files a', element)) a.search = '?epoch=' + epoch;
          $('h3', element).textContent = definition.title;
          draw.figure(element, definition);
        }
        part.dataset.epoch = epoch;
      }
    } finally { loading = false; }
  }
  // keep puts the epoch into the address once the slider rests: browsers refuse an address that changes at every step. The newest
  // epoch is not put there, so that the page continues to follow the run.
  const keep = () => {
    newest = Number(slider.value) === epochs.length - 1;
    const address = new URL(location.href);
    if (newest) address.searchParams.delete('epoch');
    else address.searchParams.set('epoch', epochs[slider.value]);
    history.replaceState(history.state, '', address);
  };
  slider.oninput = () => { newest = Number(slider.value) === epochs.length - 1; show(); };
  slider.onchange = keep;
  let playing = 0;
  const stop = () => { clearInterval(playing); playing = 0; play.textContent = 'Play'; keep(); };
  play.onclick = () => {
    if (playing) { stop(); return; }
    if (Number(slider.value) === epochs.length - 1) slider.value = 0;
    play.textContent = 'Pause';
    playing = setInterval(() => {
      if (Number(slider.value) >= epochs.length - 1) { stop(); return; }
      slider.value = Number(slider.value) + 1;
      show();
    }, 250);
  };
  words();
  return {
    // follow adds epochs that have arrived since, and shows the newest if the reader was at the newest.
    async follow(more) {
      if (more.length === epochs.length || !more.length) return;
      epochs = more;
      slider.max = epochs.length - 1;
      if (newest) { slider.value = epochs.length - 1; await show(); }
      words();
    },
  };

  async function appear() { // shows the first epoch of a run that had none when the page was opened
    const answer = await fetch(location.pathname, { headers: { Accept: 'text/html' } });
    const next = answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html');
    if (next && $('[data-film]', next)) location.reload();
  }
})();

/* Theory: what a slider moves is computed anew by the server */

const theory = $('#theory');
if (theory) {
  let wait = 0, asked = 0;
  const compute = async () => {
    const mine = ++asked, query = new URLSearchParams(new FormData(theory));
    $('#computing').textContent = 'computing …';
    const answer = await fetch(base + '/theory?' + query, { headers: { Accept: 'text/html' } });
    const text = await answer.text();
    if (mine !== asked) return; // a later change has overtaken this one
    const next = new DOMParser().parseFromString(text, 'text/html');
    if (answer.ok) { take(next); history.replaceState(null, '', base + '/theory?' + query); $('#computing').textContent = ''; }
    else $('#computing').textContent = ($('.problem', next) || next.body).textContent.trim();
  };
  const soon = () => { clearTimeout(wait); wait = setTimeout(() => compute().catch((e) => { $('#computing').textContent = e.message; }), 90); };
  const short = (v) => String(Number(Number(v).toPrecision(4)));
  for (const range of $$('input[type=range]', theory)) {
    const number = theory.elements[range.dataset.for], shown = $('output[data-of="' + range.dataset.for + '"]', theory);
    range.hidden = false;
    number.type = 'hidden';
    range.oninput = () => {
      let v = 'log' in range.dataset ? 10 ** Number(range.value) : Number(range.value);
      if ('whole' in range.dataset) v = Math.round(v);
      v = Math.min(Number(number.max), Math.max(Number(number.min), v));
      number.value = short(v);
      shown.textContent = short(v);
      soon();
    };
  }
  for (const s of $$('select', theory)) s.onchange = soon;
  $('button', theory).hidden = true;
  theory.onsubmit = (e) => { e.preventDefault(); soon(); };
}

/* Dropped files */

const drop = $('#drop');
if (drop) {
  const words = $('#upload');
  const send = async (files) => {
    const form = new FormData();
    for (const i of $$('input[type=text]', drop)) form.append(i.name, i.value);
    for (const f of files) form.append('file', f);
    words.textContent = 'measuring ' + [...files].map((f) => f.name).join(', ') + ' …';
    try {
      const answer = await fetch(base + '/measure', { method: 'POST', body: form, headers: { Accept: 'text/plain' } });
      if (answer.ok) location.href = answer.url;
      else words.textContent = (await answer.text()).replace(/^collapse: /, '');
    } catch (err) { words.textContent = 'the upload failed: ' + err.message; }
  };
  for (const kind of ['dragenter', 'dragover']) addEventListener(kind, (e) => { e.preventDefault(); drop.classList.add('over'); });
  addEventListener('dragleave', (e) => { if (!e.relatedTarget) drop.classList.remove('over'); });
  addEventListener('drop', (e) => { e.preventDefault(); drop.classList.remove('over'); if (e.dataTransfer.files.length) send(e.dataTransfer.files); });
  drop.onsubmit = (e) => { e.preventDefault(); send($('input[type=file]', drop).files); };
  $('input[type=file]', drop).onchange = (e) => { if (e.target.files.length && !$('#names').open) send(e.target.files); };
}

if (document.body.dataset.live) listen();
