// Plots of every column of the log, each with a line at the present moment; a click goes there.
import uPlot from 'uplot';

const HEIGHT = 96;

const cssColour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** Few digits, no noise. */
export function brief(value) {
  if (!Number.isFinite(value)) {
    return '';
  }
  const size = Math.abs(value);
  return size !== 0 && (size >= 1e5 || size < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
}

function options(width, xLabel) {
  const axis = { stroke: cssColour('--dim'), grid: { stroke: cssColour('--line'), width: 1 }, ticks: { show: false }, font: '10px system-ui', size: 22 };
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, y: false },
    scales: { x: { time: false } },
    axes: [
      { ...axis, values: (u, ticks) => ticks.map((x, i) => (i === ticks.length - 1 ? `${brief(x)} ${xLabel}` : brief(x))) },
      { ...axis, size: 52, values: (u, ticks) => ticks.map(brief) },
    ],
    series: [{}, { stroke: cssColour('--accent'), width: 1.25, points: { show: false } }],
    padding: [6, 14, 0, 0],
  };
}

function heading(name) {
  const title = document.createElement('h3');
  const value = document.createElement('b');
  title.append(name.replaceAll('_', ' '), value);
  return [title, value];
}

export class Plots {
  /** @param {HTMLElement} place @param {(time: number) => void} seek */
  constructor(place, seek) {
    this.place = place;
    this.seek = seek;
    this.items = [];
    this.time = 0;
  }

  /** @param {{names: string[], columns: number[][]}} log its first column named time is the abscissa */
  setLog(log) {
    this.log = log;
    this.build();
  }

  build() {
    this.items.forEach(({ holder, plot }) => {
      plot.destroy();
      holder.remove();
    });
    this.items = [];
    const x = this.log?.names.indexOf('time') ?? -1;
    if (x < 0 || this.place.clientWidth === 0) {
      return; // nothing to show, or nowhere
    }
    this.log.names.forEach((name, column) => {
      if (column !== x) {
        this.items.push(this.add(name, column, x));
      }
    });
    this.setTime(this.time);
  }

  add(name, column, x) {
    const holder = document.createElement('div');
    holder.className = 'plot';
    const [title, value] = heading(name);
    holder.append(title);
    this.place.append(holder);
    const plot = new uPlot(
      options(this.place.clientWidth - 24, 's'),
      [this.log.columns[x], this.log.columns[column]],
      holder,
    );
    const now = document.createElement('div');
    now.className = 'now';
    plot.over.append(now);
    plot.over.addEventListener('click', (event) => this.seek(plot.posToVal(event.offsetX, 'x')));
    return { name, column, x, holder, plot, now, value };
  }

  /** Rows were added to the log. */
  refresh() {
    for (const { plot, column, x } of this.items) {
      plot.setData([this.log.columns[x], this.log.columns[column]]);
    }
    this.setTime(this.time);
  }

  setTime(time) {
    this.time = time;
    for (const { plot, now, value, column, x } of this.items) {
      const place = plot.valToPos(time, 'x');
      now.style.left = `${Math.min(place, plot.over.clientWidth)}px`; // a live plot lags behind
      value.textContent = brief(valueAt(this.log.columns[x], this.log.columns[column], time));
    }
  }
}

// The value of the last row that is not later.
function valueAt(times, values, time) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time * (1 + 1e-12)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 ? values[low - 1] : NaN;
}

/** Curvature along the picked fibre. */
export class CurvaturePlot {
  constructor(place) {
    this.place = place;
    this.plot = null;
  }

  build() {
    this.plot?.destroy();
    this.plot = null;
  }

  show(s, kappa) {
    if (this.place.clientWidth === 0) {
      return;
    }
    this.plot ??= new uPlot({ ...options(this.place.clientWidth, 'm'), height: 130 }, [[], []], this.place);
    this.plot.setData([s, kappa]);
  }
}
