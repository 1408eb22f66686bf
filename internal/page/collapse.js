'use strict';
(() => {
  const film = JSON.parse(document.getElementById('film-data').textContent), box = document.getElementById('film');
  const canvas = box.querySelector('canvas'), controls = box.querySelector('.controls'), last = film.moments.length - 1;
  const [button, slider, label] = controls.children, pen = canvas.getContext('2d');
  const dials = [...document.querySelectorAll('[data-dial]')], final = dials.map((d) => d.querySelector('.error').textContent);
  canvas.hidden = controls.hidden = false;
  slider.max = last;
  const still = matchMedia('(prefers-reduced-motion: reduce)').matches, colours = matchMedia('(prefers-color-scheme: dark)');
  let at = still ? last : 0, playing = !still, held = 0, yaw = 0.5, pitch = 0.35, before = 0, drag = null;

  // place projects a point: x and y on the canvas in units of the means' length, and its depth.
  const place = (p, q, i, part) => {
    const [x, y, z] = [0, 1, 2].map((j) => (p[3 * i + j] * (1 - part) + q[3 * i + j] * part) / 1000);
    const u = x * Math.cos(yaw) + z * Math.sin(yaw), w = z * Math.cos(yaw) - x * Math.sin(yaw);
    return [u, y * Math.cos(pitch) - w * Math.sin(pitch), w * Math.cos(pitch) + y * Math.sin(pitch)];
  };

  function draw() {
    const ratio = devicePixelRatio || 1, wide = canvas.clientWidth, high = canvas.clientHeight, css = getComputedStyle(document.documentElement);
    const colour = (name) => css.getPropertyValue('--chart-' + name).trim(), unit = Math.min(wide, high) / 2.7;
    canvas.width = wide * ratio;
    canvas.height = high * ratio;
    pen.setTransform(ratio, 0, 0, ratio, wide * ratio / 2, high * ratio / 2);
    const from = Math.floor(at), a = film.moments[from], b = film.moments[Math.min(last, from + 1)], part = at - from;
    const means = Array.from({ length: a.means.length / 3 }, (_, i) => place(a.means, b.means, i, part));
    const points = film.classes.map((k, i) => [k, ...place(a.samples, b.samples, i, part)]).sort((p, q) => p[3] - q[3]);
    pen.strokeStyle = colour('muted');
    pen.lineWidth = 1;
    pen.globalAlpha = 0.28;
    means.forEach((p, i) => means.slice(i + 1).forEach((q) => { pen.beginPath(); pen.moveTo(p[0] * unit, -p[1] * unit); pen.lineTo(q[0] * unit, -q[1] * unit); pen.stroke(); }));
    for (const [k, x, y, z] of points) {
      pen.globalAlpha = Math.max(0.35, Math.min(1, 0.75 + 0.2 * z));
      pen.fillStyle = colour(k + 1);
      pen.beginPath();
      pen.arc(x * unit, -y * unit, Math.max(1.6, 2.8 + 0.8 * z), 0, 7);
      pen.fill();
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = pen.fillStyle = colour('ink');
    pen.lineWidth = 1.8;
    pen.font = '600 13px system-ui, sans-serif';
    means.forEach(([x, y], i) => { pen.beginPath(); pen.arc(x * unit, -y * unit, 8, 0, 7); pen.stroke(); pen.fillText(i, x * unit + 11, -y * unit - 8); });
    tell(Math.round(at));
  }

  // tell moves the dials to an epoch; standard errors are of the last.
  function tell(i) {
    const m = film.moments[i];
    slider.value = i;
    label.textContent = 'epoch ' + m.epoch;
    label.style.color = m.collapsed ? 'var(--yes)' : '';
    if (m.at.length === dials.length) dials.forEach((dial, j) => {
      dial.querySelector('u').style.left = m.at[j] + '%';
      dial.querySelector('.now').textContent = m.values[j];
      dial.querySelector('.error').textContent = i === last ? final[j] : '';
    });
  }

  function step(now) {
    const passed = Math.min(100, now - before);
    before = now;
    if (playing) {
      yaw += passed / 4000;
      if (at < last) at = Math.min(last, at + passed / 150);
      else if ((held += passed) > 7000) at = held = 0;
    }
    draw();
    if (playing) requestAnimationFrame(step);
  }

  function play(on) {
    const was = playing;
    playing = on;
    button.textContent = on ? 'Pause' : 'Play';
    if (on && !was) { if (at >= last) at = held = 0; requestAnimationFrame((t) => { before = t; step(t); }); }
  }

  button.onclick = () => play(!playing);
  slider.oninput = () => { play(false); at = Number(slider.value); draw(); };
  canvas.onpointerdown = (e) => { drag = [e.clientX, e.clientY, yaw, pitch]; canvas.setPointerCapture(e.pointerId); };
  canvas.onpointermove = (e) => { if (drag) { yaw = drag[2] + (e.clientX - drag[0]) / 120; pitch = Math.max(-1.5, Math.min(1.5, drag[3] + (e.clientY - drag[1]) / 120)); draw(); } };
  canvas.onpointerup = canvas.onpointercancel = () => { drag = null; };
  canvas.onkeydown = (e) => {
    const turn = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, 0.1], ArrowDown: [0, -0.1] }[e.key];
    if (turn) { yaw += turn[0]; pitch += turn[1]; draw(); e.preventDefault(); }
  };
  addEventListener('resize', draw);
  colours.addEventListener('change', draw);
  button.textContent = playing ? 'Pause' : 'Play';
  if (playing) requestAnimationFrame((t) => { before = t; step(t); }); else draw();
})();
