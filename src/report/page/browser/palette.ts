import type uPlot from 'uplot'

/** Names of the style sheet's colours that the canvas needs too. */
const NAMES = [
  ...['text', 'muted', 'line', 'card', 'good', 'bad', 'doubtful'],
  ...['p50', 'p95', 'p99', 'throughput', 'failures', 'threads'],
  ...['warm-up', 'warm-up-band', 'stall', 'stall-band'],
  ...['zone-good', 'zone-doubtful', 'zone-bad']
] as const

export type ColourName = (typeof NAMES)[number]
export type Palette = Readonly<Record<ColourName, string>>

/** The current colours; an element resolves those that depend on the theme. */
export function readPalette(): Palette {
  const probe = document.createElement('span')
  document.body.append(probe)
  const entries = NAMES.map((name) => {
    probe.style.color = `var(--${name})`
    return [name, getComputedStyle(probe).color] as const
  })
  probe.remove()
  return Object.fromEntries(entries) as Palette
}

/** How all axes look. */
export function axisLook(palette: Palette): uPlot.Axis {
  return {
    ...{ stroke: palette.muted, font: CHART_FONT, ticks: { show: false } },
    grid: { stroke: palette.line, width: 1 }
  }
}

export const CHART_FONT =
  '12px ui-sans-serif, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif'
