// The figures of the page, drawn from their specifications: values on hover, tap and focus, series that switch off, axes that
// change their scale, downloads. Needs nothing but a browser; without it the drawings in the page remain.
'use strict';
(() => {
  const page = JSON.parse(document.getElementById('figure-data').textContent);
  const SVG = 'http://www.w3.org/2000/svg';
  const INK = page.inks;
  // Pixels between the lines of a hatching, as in the drawings without scripts.
  const HATCH = 6;
  const DASHES = { published: '7 4', modelled: '9 3 2 3', derived: '2 4' };
  const isHollow = (kind) => kind === 'published' || kind === 'modelled';
  const colour = (hue) => INK.series[hue % INK.series.length];

  // The page has points in columns, words once, and once for a chart what most of its values share.
  const whole = (one, chart, kind) => {
    for (const key of ['n', 'confidence', 'provenance']) {
      if (!(key in one)) one[key] = chart[key];
      if (one[key] === 0) delete one[key];
    }
    // Where it comes from, in a word.
    one.source = one.provenance || (kind === 'dense' ? 'measured' : kind);
    return one;
  };
  const barsOf = (chart) => (chart.facets || []).flatMap((facet) => facet.groups.flatMap((group) => group.bars));
  const unpack = (spec) => {
    const { chart } = spec;
    for (const line of chart.series || chart.groups || []) {
      const columns = Object.entries(line.points);
      line.points = line.points.x.map((_, row) => {
        const one = {};
        for (const [key, column] of columns) {
          const value = column[row];
          if (value !== null && value !== undefined) one[key] = key === 'cell' ? page.words[value] : value;
        }
        return whole(one, chart, line.kind);
      });
    }
    for (const one of barsOf(chart)) one.segments.forEach((segment) => whole(segment, chart, segment.kind || one.kind));
    for (const key of ['subject', 'origin']) spec[key] = page.words[spec[key]];
    return spec;
  };

  // Spelling of numbers, as in the tables of the page.
  const PREFIXES = {
    bandwidth: [[1e9, 'GB/s'], [1e6, 'MB/s'], [1e3, 'kB/s'], [1, 'B/s']],
    iops: [[1e6, 'M'], [1e3, 'k'], [1, '']],
    count: [[1e6, 'M'], [1e3, 'k'], [1, '']],
    latency: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
    seconds: [[1, 's']],
    share: [[0.01, '%']],
    percent: [[1, '%']],
    bits: [[1, 'bit']],
    access_size: [[2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']],
  };
  const short = (value) => {
    if (value === 0 || !Number.isFinite(value)) return '0';
    const decimals = Math.min(8, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))));
    const text = value.toFixed(decimals);
    return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
  };
  const prefixFor = (quantity, value) => {
    const steps = PREFIXES[quantity] || [[1, '']];
    return steps.find(([factor]) => Math.abs(value) >= factor * (1 - 1e-9)) || steps[steps.length - 1];
  };
  const spell = (quantity, value) => {
    const [factor, unit] = prefixFor(quantity, value);
    return `${short(value / factor)} ${unit}`.trim();
  };

  // Axes: a place from 0 to 1 for each value, and ticks with their names.
  const roundUp = (value) => {
    const decade = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((step) => step * decade).find((step) => step >= value * (1 - 1e-9));
  };
  const canShow = (scale, value) => Number.isFinite(value) && (!scale.startsWith('log') || value > 0);
  // What a share is a share of, and the bits of a byte.
  const WHOLES = { share: 1, percent: 100, bits: 8 };

  function planAxis(axis, scale, values, mostTicks, fromZero) {
    const shown = values.filter((value) => canShow(scale, value));
    let low = shown.length ? Math.min(...shown) : 1;
    let high = shown.length ? Math.max(...shown) : 1;
    const ticks = [];
    if (scale.startsWith('log')) {
      const base = scale === 'log2' ? 2 : 10;
      const log = (value) => Math.log(value) / Math.log(base);
      let from, to, step = 1;
      if (base === 2) {
        from = Math.floor(log(low) + 1e-9);
        to = Math.max(Math.ceil(log(high) - 1e-9), from + 1);
        step = Math.max(1, Math.ceil((to - from) / mostTicks));
        for (let tick = Math.ceil(from / step) * step; tick <= to; tick += step) ticks.push(2 ** tick);
        const margin = (to - from) * 0.03;
        from -= margin;
        to += margin;
      } else {
        if (fromZero) low /= 1.6;
        from = log(low / 1.1);
        to = log(high * 1.1);
        const decades = to - from;
        const steps = decades * 3 > mostTicks * 1.5 ? [1] : [1, 2, 5];
        const every = steps.length === 1 ? Math.max(1, Math.ceil(decades / mostTicks)) : 1;
        for (let decade = Math.floor(from); decade <= to; decade += 1) {
          if (((decade % every) + every) % every !== 0) continue;
          for (const one of steps) {
            const tick = one * 10 ** decade;
            if (log(tick) >= from - 1e-9 && log(tick) <= to + 1e-9) ticks.push(tick);
          }
        }
      }
      return {
        label: axis.label,
        place: (value) => (log(value) - from) / (to - from),
        ticks: ticks.map((tick) => [tick, spell(axis.quantity, tick)]),
      };
    }
    const whole = WHOLES[axis.quantity];
    if (scale === 'fitted') {
      const span = high > low ? high - low : Math.max(1, Math.abs(low)) * 0.1;
      const step = roundUp((span * 1.1) / mostTicks);
      low = Math.floor((low - span * 0.04) / step) * step;
      // No share is above all: half a step is room for the markers, and has no tick.
      const most = high <= whole ? whole + step / 2 : Infinity;
      high = Math.min(Math.ceil((high + span * 0.04) / step) * step, most);
      for (let tick = low; tick <= high + step / 100; tick += step) ticks.push(tick);
    } else {
      const isWhole = whole !== undefined && high <= whole;
      low = 0;
      if (isWhole) high = whole;
      const step = roundUp((high > 0 ? high : 1) / mostTicks);
      high = Math.ceil(((high > 0 ? high : 1) * (isWhole ? 1 : 1.02)) / step - 1e-9) * step;
      for (let tick = 0; tick <= high + step / 2; tick += step) ticks.push(tick);
    }
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    const [factor, unit] = prefixFor(axis.quantity, high);
    const decimals = Math.max(0, -Math.floor(Math.log10(step / factor) + 1e-9));
    return {
      label: unit ? `${axis.label} (${unit})` : axis.label,
      place: (value) => (value - low) / (high - low),
      ticks: ticks.map((tick) => [tick, (tick / factor).toFixed(decimals)]),
    };
  }

  // Elements.
  function add(parent, name, attributes, text) {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
      if (value !== undefined) element.setAttribute(key, typeof value === 'number' ? Math.round(value * 10) / 10 : value);
    }
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  function html(parent, name, properties, text) {
    const element = Object.assign(document.createElement(name), properties);
    if (text !== undefined) element.textContent = text;
    parent.append(element);
    return element;
  }
  const line = (parent, x1, y1, x2, y2, stroke, width = 1, dashes) =>
    add(parent, 'line', { x1, y1, x2, y2, stroke, 'stroke-width': width, 'stroke-dasharray': dashes });
  const text = (parent, x, y, words, anchor, size = 12) =>
    add(parent, 'text', { x, y, 'text-anchor': anchor, 'font-size': size }, words);
  const widthOf = (words, size = 12) => words.length * size * 0.58;

  function marker(parent, hue, x, y, kind, ink = colour(hue), isPale = false) {
    const paint = isHollow(kind)
      ? { fill: 'none', stroke: ink, 'stroke-width': '1.5' }
      : { fill: ink, 'fill-opacity': isPale ? '0.4' : undefined, stroke: isPale ? undefined : INK.page, 'stroke-width': '0.8' };
    const corners = page.markers[hue % page.markers.length];
    if (!corners.length) return add(parent, 'circle', { cx: x, cy: y, r: 4, ...paint });
    const points = corners.map(([dx, dy]) => `${(x + dx * 4).toFixed(1)},${(y + dy * 4).toFixed(1)}`).join(' ');
    return add(parent, 'polygon', { points, ...paint });
  }
  // A bar, hatched as its hue is: lines of the page's colour in a filled one, of its own in a pale one.
  function bar(parent, hue, [left, top, right, bottom], kind, ink = colour(hue)) {
    const isFilled = !DASHES[kind];
    const opacity = isFilled ? undefined : kind === 'published' ? '0.22' : '0.08';
    add(parent, 'rect', {
      x: left, y: top, width: Math.max(0, right - left), height: bottom - top, fill: ink, 'fill-opacity': opacity,
      stroke: isFilled ? undefined : ink, 'stroke-dasharray': DASHES[kind],
    });
    const height = bottom - top;
    const pieces = [];
    const slanted = (step, rises) => {
      for (let foot = left - height + step; foot < right; foot += step) {
        const [from, to] = [Math.max(foot, left), Math.min(foot + height, right)];
        const y = (x) => (rises ? bottom - (x - foot) : top + (x - foot));
        if (to - from > 0.5) pieces.push([from, y(from), to, y(to)]);
      }
    };
    switch (hue % 8) {
      case 0: break;
      case 1: slanted(HATCH, true); break;
      case 2: slanted(HATCH, false); break;
      case 3: for (let x = left + HATCH; x < right - 0.5; x += HATCH) pieces.push([x, top, x, bottom]); break;
      case 4: pieces.push([left, (top + bottom) / 2, right, (top + bottom) / 2]); break;
      case 5: slanted(HATCH * 1.5, true); slanted(HATCH * 1.5, false); break;
      case 6: slanted(HATCH * 2.5, true); break;
      default: slanted(HATCH * 2.5, false);
    }
    const d = pieces.map((piece) => piece.map((number) => number.toFixed(1))).map(([a, b, x, y]) => `M${a},${b}L${x},${y}`).join('');
    if (d) add(parent, 'path', { d, fill: 'none', stroke: isFilled ? INK.page : ink, 'stroke-width': isFilled ? '1.3' : '0.8' });
  }

  // What a value rests on, in words.
  function certainty(quantity, one, interval) {
    const parts = [];
    if (interval) {
      const percent = one.confidence === undefined ? '' : `${Math.round(one.confidence * 100)} % interval: `;
      parts.push(`${percent}${spell(quantity, interval[0])} to ${spell(quantity, interval[1])}`);
    }
    if (one.n !== undefined) parts.push(`n = ${one.n}`);
    return parts.join(', ');
  }

  // One figure, its state and what it shows.
  class Figure {
    constructor(element, spec) {
      this.spec = spec;
      this.chart = spec.chart;
      this.off = new Set();
      this.axes = this.chart.kind === 'bars' ? { value: this.chart.value } : { x: this.chart.x, y: this.chart.y };
      this.scales = Object.fromEntries(Object.entries(this.axes).map(([name, axis]) => [name, axis.scale]));
      this.element = element;
      this.live = html(element.querySelector('.drawing'), 'div', { className: 'live' });
      this.legend = html(this.live, 'div', { className: 'legend' });
      this.plot = html(this.live, 'div', { className: 'plot' });
      this.tip = html(this.live, 'div', { className: 'tip', hidden: true });
      this.tip.setAttribute('role', 'status');
      this.bar = html(this.live, 'div', { className: 'tools' });
      this.addLegend();
      this.addTools();
      this.draw();
      new ResizeObserver(() => {
        if (Math.abs(this.plot.clientWidth - this.width) > 4) this.draw();
      }).observe(this.plot);
      element.classList.add('is-live');
    }

    // Names in the legend, each once, in the order of the series.
    entries() {
      const { chart } = this;
      const all =
        chart.kind === 'bars' ? chart.parts.map((part) => ({ ...part, kind: 'measured' })) : chart.series || chart.groups;
      const seen = {};
      const named = all.filter(({ name, kind }) => !(name in seen) && (seen[name] = kind));
      // What looks are called that no name says, whatever the colour, and the front. None of these can be switched off.
      const bars = barsOf(chart);
      const isUsed = (kind) =>
        bars.some((one) => one.segments.some((segment) => (segment.kind || one.kind) === kind)) ||
        all.some((one) => one.kind === kind && seen[one.name] !== kind);
      for (const kind in DASHES) if (isUsed(kind)) named.push({ name: kind, kind, hue: 0, ink: INK.text });
      const name = chart.front_name;
      if (name && chart.groups.some((group) => group.points.some((one) => one.on_front))) named.push({ name, kind: 'front', ink: INK.axis });
      return named;
    }

    swatch(parent, { hue, kind, ink = colour(hue) }, x, y) {
      if (kind === 'front') line(parent, x, y, x + 24, y, ink, 1.2);
      else if (this.chart.kind === 'bars') bar(parent, hue, [x + 3, y - 6, x + 21, y + 6], kind, ink);
      else {
        if (this.chart.kind === 'lines') line(parent, x, y, x + 24, y, ink, 2, DASHES[kind]);
        marker(parent, hue, x + 12, y, kind, ink);
      }
    }

    addLegend() {
      for (const entry of this.entries()) {
        const button = entry.ink ? html(this.legend, 'span') : html(this.legend, 'button', { type: 'button', title: 'Show or hide' });
        const swatch = add(button, 'svg', { class: 'chart', width: 24, height: 14, viewBox: '0 0 24 14', 'aria-hidden': 'true' });
        this.swatch(swatch, entry, 0, 7);
        html(button, 'span', {}, entry.name);
        if (entry.ink) continue;
        button.setAttribute('aria-pressed', 'true');
        button.addEventListener('click', () => {
          if (!this.off.delete(entry.name)) this.off.add(entry.name);
          button.setAttribute('aria-pressed', String(!this.off.has(entry.name)));
          this.draw();
        });
      }
    }

    addTools() {
      const isStack = barsOf(this.chart).some((one) => one.segments.length > 1);
      for (const [name, axis] of Object.entries(this.axes)) {
        const isLog = axis.scale.startsWith('log');
        // Parts of a sum have no length on a logarithmic axis.
        if (isStack) continue;
        const [log, linear] = isLog ? [axis.scale, 'linear'] : ['log10', axis.scale];
        const button = html(this.bar, 'button', { type: 'button', title: `Logarithmic or linear: ${axis.label}` }, `log ${name}`);
        button.dataset.axis = name;
        const show = () => button.setAttribute('aria-pressed', String(this.scales[name].startsWith('log')));
        show();
        button.addEventListener('click', () => {
          this.scales[name] = this.scales[name].startsWith('log') ? linear : log;
          show();
          this.draw();
        });
      }
      const tool = (name, action) => {
        const button = html(this.bar, 'button', { type: 'button', title: `Download this figure as ${name}` }, name);
        button.dataset.save = name.toLowerCase();
        button.addEventListener('click', () => action());
      };
      tool('CSV', () => this.save('csv', new Blob([this.csv()], { type: 'text/csv' })));
      tool('SVG', () => this.save('svg', new Blob([this.file()], { type: 'image/svg+xml' })));
      tool('PNG', () => this.savePng());
    }

    // The plot at the width that it has. Marks are what a pointer or the keyboard can reach.
    draw() {
      this.width = Math.max(260, this.plot.clientWidth || 470);
      this.marks = [];
      this.tip.hidden = true;
      this.current = -1;
      const svg = document.createElementNS(SVG, 'svg');
      svg.setAttribute('class', 'chart');
      svg.setAttribute('fill', INK.text);
      svg.setAttribute('font-family', 'system-ui,-apple-system,"Segoe UI","DejaVu Sans",sans-serif');
      svg.setAttribute('role', 'application');
      svg.setAttribute('aria-label', `${this.spec.title}. Arrow keys go through the values.`);
      svg.tabIndex = 0;
      const height = { lines: 'drawLines', points: 'drawPoints', bars: 'drawBars' }[this.chart.kind];
      this.height = this[height](svg);
      svg.setAttribute('viewBox', `0 0 ${Math.round(this.width)} ${Math.round(this.height)}`);
      this.plot.replaceChildren(svg);
      this.svg = svg;
      this.ring = add(svg, 'circle', { r: 7, fill: 'none', stroke: INK.text, 'stroke-width': '1.5', visibility: 'hidden' });
      svg.addEventListener('pointermove', (event) => this.reach(event));
      svg.addEventListener('pointerdown', (event) => this.reach(event));
      svg.addEventListener('pointerleave', (event) => event.pointerType === 'mouse' && this.hide());
      svg.addEventListener('blur', () => this.hide());
      svg.addEventListener('keydown', (event) => this.key(event));
    }

    // Axes of a plot with two of them; gives the places of values, or none where the frame does not hold them.
    plane(svg, xs, ys) {
      const { width } = this;
      const height = Math.min(400, Math.max(270, width * 0.58));
      const x = planAxis(this.axes.x, this.scales.x, xs, Math.max(3, Math.floor(width / 76)));
      const y = planAxis(this.axes.y, this.scales.y, ys, 6);
      const left = 18 + Math.max(20, ...y.ticks.map(([, name]) => widthOf(name)));
      const [top, right, bottom] = [28, width - 24, height - 42];
      const at = (a, b) => [left + x.place(a) * (right - left), bottom - y.place(b) * (bottom - top)];
      let taken = -Infinity;
      for (const [tick, name] of x.ticks) {
        const [px] = at(tick, 1);
        const half = widthOf(name) / 2;
        line(svg, px, top, px, bottom, INK.grid);
        if (px - half > taken + 4) {
          text(svg, px, bottom + 17, name, 'middle');
          taken = px + half;
        }
      }
      for (const [tick, name] of y.ticks) {
        const py = bottom - y.place(tick) * (bottom - top);
        line(svg, left, py, right, py, INK.grid);
        text(svg, left - 7, py + 4, name, 'end');
      }
      add(svg, 'path', { d: `M${left},${top}V${bottom}H${right}`, fill: 'none', stroke: INK.axis });
      text(svg, (left + right) / 2, height - 6, x.label, 'middle', 13);
      text(svg, 4, top - 11, y.label, 'start', 13);
      const clip = `clip-${this.spec.id}`;
      const inner = add(add(svg, 'defs', {}), 'clipPath', { id: clip });
      add(inner, 'rect', { x: left - 1, y: top - 1, width: right - left + 2, height: bottom - top + 2 });
      const holds = ([px, py]) => px >= left - 1 && px <= right + 1 && py >= top - 1 && py <= bottom + 1;
      return { at, height, left, right, top, bottom, clip: `url(#${clip})`, holds };
    }

    // Series that decide how far axes reach: other hardware only as far as ours can be read next to it, unless there is nothing else.
    scaleSetting(all, scale, of) {
      const own = all.filter((one) => one.kind !== 'published');
      if (!own.length) return all;
      // Bars have no points: only ours set their scale.
      if (!scale) return own;
      const values = own.flatMap((one) => one.points.map(of)).filter((value) => value > 0);
      const low = scale.startsWith('log') ? Math.min(...values) / 10 : -Infinity;
      const high = Math.max(...values) * 10;
      const hasRoom = (one) => one.points.every((point) => of(point) >= low && of(point) <= high);
      return all.filter((one) => one.kind !== 'published' || (values.length && hasRoom(one)));
    }

    drawLines(svg) {
      const shows = (point) => canShow(this.scales.x, point.x) && canShow(this.scales.y, point.y);
      const all = this.chart.series.filter((series) => !this.off.has(series.name));
      const setting = this.scaleSetting(all, this.scales.y, (point) => point.y).flatMap((series) => series.points.filter(shows));
      const plane = this.plane(svg, setting.map((p) => p.x), setting.flatMap((p) => [p.y, ...(p.interval || [])]));
      const inside = (py) => Math.min(plane.bottom, Math.max(plane.top, Number.isFinite(py) ? py : plane.bottom));
      for (const series of all) {
        const points = series.points.filter(shows);
        // A value without an interval interrupts the band.
        const bands = [[]];
        for (const point of points) {
          if (point.interval) bands.at(-1).push(point);
          else bands.push([]);
        }
        for (const band of bands) {
          const ends = (index) => band.map((point) => {
            const [px, py] = plane.at(point.x, Math.max(point.interval[index], 1e-300));
            return [px.toFixed(1), inside(py).toFixed(1)];
          });
          const [lows, highs] = [ends(0), ends(1)];
          if (band.length === 1) line(svg, ...lows[0], ...highs[0], colour(series.hue), 1.5);
          else if (band.length) add(svg, 'polygon', { points: lows.concat(highs.reverse()).join(' '), fill: colour(series.hue), 'fill-opacity': '0.18', 'clip-path': plane.clip });
        }
      }
      for (const series of all) {
        const points = series.points.filter(shows).map((point) => [point, plane.at(point.x, point.y)]);
        const path = points.map(([, at]) => at.map((number) => number.toFixed(1)).join(',')).join(' ');
        add(svg, 'polyline', {
          points: path, fill: 'none', stroke: colour(series.hue), 'stroke-width': 2,
          'stroke-dasharray': DASHES[series.kind], 'clip-path': plane.clip,
        });
        const stride = series.kind === 'dense' ? Math.max(1, Math.ceil(points.length / 7)) : 1;
        const first = Math.floor((series.hue * stride) / 4) % stride;
        points.forEach(([point, at], index) => {
          if (!plane.holds(at)) return;
          if (index % stride === first) marker(svg, series.hue, at[0], at[1], series.kind);
          const { x, y } = this.chart;
          this.mark(at, series.name, point, [
            `${x.label}: ${spell(x.quantity, point.x)}`,
            `${y.label}: ${spell(y.quantity, point.y)}`,
            certainty(y.quantity, point, point.interval),
            point.cell,
          ]);
        });
      }
      return plane.height;
    }

    drawPoints(svg) {
      const shows = (point) => canShow(this.scales.x, point.x) && canShow(this.scales.y, point.y);
      const { x, y } = this.chart;
      const all = this.chart.groups.filter((group) => !this.off.has(group.name));
      const setting = this.scaleSetting(all, this.scales.x, (point) => point.x).flatMap((group) => group.points.filter(shows));
      const plane = this.plane(svg, setting.flatMap((p) => [p.x, ...(p.x_interval || [])]), setting.flatMap((p) => [p.y, ...(p.y_interval || [])]));
      const front = all.flatMap((group) => group.points.filter((one) => one.on_front && shows(one))).sort((a, b) => a.x - b.x);
      const stairs = front.map((one, index) => {
        const [px, py] = plane.at(one.x, one.y);
        if (index === 0) return `M${px.toFixed(1)},${py.toFixed(1)}`;
        return this.chart.x_better === 'higher' ? `V${py.toFixed(1)}H${px.toFixed(1)}` : `H${px.toFixed(1)}V${py.toFixed(1)}`;
      });
      if (stairs.length) add(svg, 'path', { d: stairs.join(''), fill: 'none', stroke: INK.axis, 'stroke-width': '1.2' });
      const taken = [];
      for (const group of all) {
        for (const point of group.points.filter(shows)) {
          const level = point.x_interval?.map((edge) => [edge, point.y]);
          for (const ends of [level, point.y_interval?.map((edge) => [point.x, edge])]) {
            const [low, high] = (ends || []).map(([a, b]) => plane.at(Math.max(a, 1e-300), Math.max(b, 1e-300)));
            if (low && plane.holds(low) && plane.holds(high)) line(svg, low[0], low[1], high[0], high[1], colour(group.hue), 0.8);
          }
        }
        for (const point of group.points.filter(shows)) {
          const at = plane.at(point.x, point.y);
          if (!plane.holds(at)) continue;
          taken.push([at[0] - 4, at[1] - 4, at[0] + 4, at[1] + 4]);
          marker(svg, group.hue, at[0], at[1], group.kind, undefined, front.length > 0 && !point.on_front);
          this.mark(at, group.name, point, [
            `${x.label}: ${spell(x.quantity, point.x)}`,
            certainty(x.quantity, point, point.x_interval),
            `${y.label}: ${spell(y.quantity, point.y)}`,
            certainty(y.quantity, { confidence: point.y_confidence }, point.y_interval),
            point.cell,
          ]);
        }
      }
      for (const point of front.filter((one) => one.label)) {
        const [px, py] = plane.at(point.x, point.y);
        const wide = widthOf(point.label);
        // On the better side above the point there is nothing: neither the stairs nor another point.
        const side = this.chart.x_better === 'higher' ? 1 : -1;
        const box = [side, -side]
          .flatMap((way) => [-6, 14, -20, 28].map((rise) => {
            const start = way > 0 ? px + 7 : px - 7 - wide;
            return [start, py + rise - 11, start + wide, py + rise + 3];
          }))
          .find((one) => one[0] > plane.left && one[2] < plane.right + 16 && !taken.some((other) =>
            one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3]));
        if (!box) continue;
        taken.push(box);
        const name = text(svg, box[0], box[3] - 3, point.label, 'start');
        for (const [key, value] of [['paint-order', 'stroke'], ['stroke', INK.page], ['stroke-width', 3]]) name.setAttribute(key, value);
      }
      return plane.height;
    }

    drawBars(svg) {
      const { chart, width } = this;
      const isOn = (one) => one.segments.every((segment) => !this.off.has(chart.parts[segment.part || 0].name));
      const facets = chart.facets.map((facet) => ({
        title: facet.title,
        groups: facet.groups.map((group) => ({ label: group.label, bars: group.bars.filter(isOn) })),
      }));
      const bars = facets.flatMap((facet) => facet.groups.flatMap((group) => group.bars));
      const values = this.scaleSetting(bars).flatMap((one) => {
        const total = one.segments.reduce((sum, segment) => sum + segment.value, 0);
        return one.segments.length === 1 ? [total, ...(one.segments[0].interval || [])] : [total];
      });
      const labels = [...new Set(facets.flatMap((facet) => facet.groups.map((group) => group.label)))];
      const labelWidth = Math.min(width * 0.34, Math.max(30, ...labels.map((label) => widthOf(label)))) + 12;
      const columns = Math.max(1, Math.min(facets.length, Math.floor((width - labelWidth) / 110)));
      const room = (width - labelWidth - 18 - (columns - 1) * 22) / columns;
      const plan = planAxis(chart.value, this.scales.value, values, Math.max(2, Math.floor(room / 48)), true);
      const most = (label) => Math.max(1, ...facets.flatMap((f) => f.groups.filter((g) => g.label === label).map((g) => g.bars.length)));
      let top = 0;
      facets.forEach((facet, index) => {
        const column = index % columns;
        const left = labelWidth + column * (room + 22);
        const at = (value) => left + Math.min(1, Math.max(0, plan.place(value) || 0)) * room;
        let y = top + (facet.title ? 22 : 6);
        if (facet.title) text(svg, left, y - 7, facet.title, 'start', 13);
        const grid = add(svg, 'g', {});
        const start = y;
        for (const label of labels) {
          const height = Math.max(most(label) * 13, this.lines(label, labelWidth).length * 14, 16);
          if (column === 0) this.label(svg, label, labelWidth, y + height / 2);
          const group = facet.groups.find((one) => one.label === label);
          const shown = group ? group.bars : [];
          shown.forEach((one, place) => {
            this.drawBar(svg, one, { at, left, y: y + (height - shown.length * 13) / 2 + place * 13, plan, room, facet, label });
          });
          y += height + 8;
        }
        let taken = -Infinity;
        for (const [tick, name] of plan.ticks) {
          if (plan.place(tick) < -0.001 || plan.place(tick) > 1.001) continue;
          const px = at(tick);
          line(grid, px, start, px, y, INK.grid);
          const half = widthOf(name) / 2;
          if (px - half > taken + 3) {
            text(svg, px, y + 15, name, 'middle');
            taken = px + half;
          }
        }
        line(svg, left, start, left, y, INK.axis);
        if (column === columns - 1 || index === facets.length - 1) top = y + 22;
      });
      text(svg, Math.min((labelWidth + width) / 2, width - widthOf(plan.label, 13) / 2), top + 14, plan.label, 'middle', 13);
      return top + 22;
    }

    // A label in one line, or in two; what is too long for these is cut.
    lines(label, labelWidth) {
      const most = Math.max(2, Math.floor((labelWidth - 10) / widthOf('0')));
      const cut = (words) => (words.length > most ? `${words.slice(0, most - 1)}…` : words);
      if (label.length <= most) return [label];
      const space = label.lastIndexOf(' ', most);
      return space > 0 ? [cut(label.slice(0, space)), cut(label.slice(space + 1))] : [cut(label)];
    }

    label(svg, label, labelWidth, middle) {
      const lines = this.lines(label, labelWidth);
      lines.forEach((words, index) => {
        const element = text(svg, labelWidth - 7, middle + 4 + (index - (lines.length - 1) / 2) * 13, words, 'end');
        if (lines.join(' ') !== label) add(element, 'title', {}, label);
      });
    }

    drawBar(svg, one, { at, left, y, plan, room, facet, label }) {
      const { value: axis, parts } = this.chart;
      let from = 0;
      for (const segment of one.segments) {
        const part = parts[segment.part || 0];
        const start = from > 0 ? at(from) : left;
        const end = Math.max(start, at(from + segment.value));
        bar(svg, part.hue, [start, y, end, y + 11], segment.kind || one.kind);
        if (segment.interval) {
          const [low, high] = segment.interval.map((edge) => at(from + edge));
          line(svg, low, y + 5.5, high, y + 5.5, INK.page, 3.4);
          line(svg, low, y + 5.5, high, y + 5.5, INK.text, 1.2);
          for (const edge of [low, high]) line(svg, edge, y + 2.5, edge, y + 8.5, INK.text, 1.2);
        }
        const middle = [(start + end) / 2, y + 5.5];
        this.mark(middle, part.name, segment, [
          [facet.title, label].filter(Boolean).join(', '),
          `${axis.label}: ${spell(axis.quantity, segment.value)}`,
          certainty(axis.quantity, segment, segment.interval),
        ], [start, y - 1, Math.max(start + 3, end), y + 12]);
        from += segment.value;
      }
      if (plan.place(from) > 1.000001) {
        const tip = left + room + 5;
        add(svg, 'path', { d: `M${tip - 4},${y + 1.5}L${tip},${y + 5.5}L${tip - 4},${y + 9.5}`, fill: 'none', stroke: INK.text });
      }
    }

    mark(at, name, { source }, lines, box) {
      if (source !== 'measured' && !name.includes(source)) name += ` (${source})`;
      this.marks.push({ at, box, name, lines: lines.filter(Boolean) });
    }

    // The mark nearest to a pointer. A bar is as near as its edge.
    reach(event) {
      const frame = this.svg.getBoundingClientRect();
      const scale = this.width / frame.width;
      const [x, y] = [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
      const outside = (value, low, high) => Math.max(low - value, 0, value - high);
      const distance = ({ at, box }) =>
        box ? Math.hypot(outside(x, box[0], box[2]), outside(y, box[1], box[3]) * 2) : Math.hypot(at[0] - x, at[1] - y);
      let best = -1;
      let least = event.pointerType === 'mouse' ? 40 : 60;
      this.marks.forEach((mark, index) => {
        const far = distance(mark);
        if (far < least) [best, least] = [index, far];
      });
      if (best < 0) this.hide();
      else this.show(best);
    }

    key(event) {
      const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
      if (event.key === 'Escape') this.hide();
      if (!step || !this.marks.length) return;
      event.preventDefault();
      const count = this.marks.length;
      this.show(this.current < 0 && step < 0 ? count - 1 : (this.current + step + count) % count);
    }

    show(index) {
      if (index === this.current && !this.tip.hidden) return;
      this.current = index;
      const { at: [x, y], name, lines } = this.marks[index];
      this.ring.setAttribute('cx', x);
      this.ring.setAttribute('cy', y);
      this.ring.setAttribute('visibility', 'visible');
      this.tip.replaceChildren();
      html(this.tip, 'b', {}, name);
      for (const one of lines) html(this.tip, 'span', {}, one);
      this.tip.hidden = false;
      const frame = this.svg.getBoundingClientRect();
      const scale = frame.width / this.width;
      const wide = this.tip.offsetWidth;
      const left = Math.min(Math.max(0, x * scale - wide / 2), Math.max(0, frame.width - wide));
      const above = y * scale - this.tip.offsetHeight - 12;
      this.tip.style.left = `${left}px`;
      this.tip.style.top = `${this.plot.offsetTop + (above < 0 ? y * scale + 14 : above)}px`;
    }

    hide() {
      this.tip.hidden = true;
      this.current = -1;
      this.ring.setAttribute('visibility', 'hidden');
    }

    // What is drawn, in the columns of `outcrop figure --csv`.
    csv() {
      const { chart } = this;
      const head = (axis) => (axis.unit ? `${axis.label} (${axis.unit})` : axis.label);
      const support = (one, interval) => [...(interval || ['', '']), one.confidence, one.n];
      const tail = ['low', 'high', 'confidence', 'n'];
      const from = ['series', 'provenance'];
      let rows;
      if (chart.kind === 'lines') {
        rows = [[...from, head(chart.x), head(chart.y), ...tail, 'cell']];
        for (const series of chart.series) {
          for (const one of series.points) {
            rows.push([series.name, one.source, one.x, one.y, ...support(one, one.interval), one.cell]);
          }
        }
      } else if (chart.kind === 'points') {
        const more = chart.groups.some((group) => group.points.some((one) => one.y_interval)) ? 3 : 0;
        const ofY = tail.slice(0, more).map((what) => `${what} of ${chart.y.label}`);
        rows = [[...from, head(chart.y), head(chart.x), ...tail, 'cell', ...ofY]];
        for (const group of chart.groups) {
          for (const one of group.points) {
            const upright = support({ confidence: one.y_confidence }, one.y_interval).slice(0, more);
            rows.push([group.name, one.source, one.y, one.x, ...support(one, one.x_interval), one.cell, ...upright]);
          }
        }
      } else {
        rows = [['panel', 'group', ...from, head(chart.value), ...tail]];
        for (const facet of chart.facets) {
          for (const group of facet.groups) {
            for (const one of group.bars) {
              for (const s of one.segments) {
                rows.push([facet.title, group.label, chart.parts[s.part || 0].name, s.source, s.value, ...support(s, s.interval)]);
              }
            }
          }
        }
      }
      const cell = (value) => {
        const words = value === undefined || value === null ? '' : String(value);
        return /[",\r\n]/.test(words) ? `"${words.replace(/"/g, '""')}"` : words;
      };
      return rows.map((row) => `${row.map(cell).join(',')}\n`).join('');
    }

    // What is shown now, with title, legend, subject, caption, date and sample counts, as a document of its own.
    file() {
      const svg = document.createElementNS(SVG, 'svg');
      const { width } = this;
      let y = 22;
      const write = (words, size) => {
        let row = '';
        const flush = () => {
          text(svg, 8, y, row, 'start', size);
          y += size + 5;
        };
        for (const word of words.split(' ')) {
          if (row && widthOf(`${row} ${word}`, size) > width - 16) {
            flush();
            row = word;
          } else row = row ? `${row} ${word}` : word;
        }
        flush();
      };
      write(this.spec.title, 15);
      write(this.spec.subject, 12);
      let x = 8;
      for (const entry of this.entries().filter(({ name }) => !this.off.has(name))) {
        const wide = 40 + widthOf(entry.name, 12);
        if (x > 8 && x + wide > width) [x, y] = [8, y + 19];
        this.swatch(svg, entry, x, y);
        text(svg, x + 29, y + 4, entry.name, 'start');
        x += wide;
      }
      y += 16;
      const body = this.svg.cloneNode(true);
      body.lastChild.remove();
      for (const [key, value] of Object.entries({ y, width, height: this.height })) body.setAttribute(key, Math.round(value));
      for (const key of ['tabindex', 'role', 'aria-label']) body.removeAttribute(key);
      svg.append(body);
      y += this.height + 18;
      write(this.element.querySelector('figcaption').textContent, 12);
      write(this.spec.origin, 12);
      const attributes = {
        viewBox: `0 0 ${Math.round(width)} ${Math.round(y)}`, width: Math.round(width), height: Math.round(y), fill: INK.text,
        'font-family': body.getAttribute('font-family'),
      };
      for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
      const sheet = document.createElementNS(SVG, 'rect');
      for (const [key, value] of Object.entries({ width: '100%', height: '100%', fill: INK.page })) sheet.setAttribute(key, value);
      svg.prepend(sheet);
      return new XMLSerializer().serializeToString(svg);
    }

    savePng() {
      const image = new Image();
      image.onload = () => {
        const canvas = document.createElement('canvas');
        [canvas.width, canvas.height] = [image.width * 3, image.height * 3];
        canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => this.save('png', blob), 'image/png');
      };
      image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(this.file())}`;
    }

    save(ending, blob) {
      const link = Object.assign(document.createElement('a'), { href: URL.createObjectURL(blob), download: `${this.spec.id}.${ending}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 10000);
    }
  }

  for (const spec of page.figures) {
    const element = document.getElementById(`figure-${spec.id}`);
    if (element) new Figure(element, unpack(spec));
  }

  // That a table scrolls is said where it is wider than its box, whatever the width of the page.
  const tellOfScrolling = () => {
    for (const box of document.querySelectorAll('.scroll-cue + .scroll')) {
      const isWider = box.scrollWidth > box.clientWidth + 1;
      box.previousElementSibling.classList.toggle('overflows', isWider);
      box.previousElementSibling.classList.toggle('fits', !isWider);
    }
  };
  tellOfScrolling();
  window.addEventListener('resize', tellOfScrolling);

  // Tables whose rows can be put in the order of a column.
  for (const table of document.querySelectorAll('table.sortable')) {
    const body = table.tBodies[0];
    table.querySelectorAll('thead th').forEach((head, column) => {
      const button = html(head, 'button', { type: 'button', className: 'sort', title: 'Sort by this column' });
      button.append(...[...head.childNodes].filter((node) => node !== button));
      button.addEventListener('click', () => {
        const isDown = head.getAttribute('aria-sort') === 'ascending';
        for (const other of head.parentNode.children) other.removeAttribute('aria-sort');
        head.setAttribute('aria-sort', isDown ? 'descending' : 'ascending');
        const key = (row) => row.cells[column].dataset.v ?? row.cells[column].textContent;
        const order = (a, b) => {
          const [one, other] = [key(a), key(b)];
          const [left, right] = [Number(one), Number(other)];
          return one !== '' && other !== '' && Number.isFinite(left) && Number.isFinite(right) ? left - right : one.localeCompare(other);
        };
        const rows = [...body.rows].sort(order);
        body.append(...(isDown ? rows.reverse() : rows));
      });
    });
  }
})();
