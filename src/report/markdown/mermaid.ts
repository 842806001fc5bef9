/** Colours that are visible on a light and on a dark page; Mermaid's own are hard to see on white. */
export const BLUE = '#2f81f7'
export const ORANGE = '#d9730d'
export const RED = '#e5534b'
export const GREY = '#8b949e'
/** Mermaid does not parse exponents. */
const LARGEST = 1e15

export interface MermaidChart {
  readonly title: string
  /** The line of the axis, without `x-axis`. */
  readonly xAxis: string
  readonly height: number
  readonly lines: readonly { readonly colour: string; readonly values: readonly number[] }[]
}

/** Old and new versions understand `xychart-beta`; GitHub chooses which one draws. */
export function drawChart({ title, xAxis, height, lines }: MermaidChart): string {
  const rows = lines.map(({ values }) => values.map(writable))
  const look = {
    xyChart: { width: 900, height },
    themeVariables: { xyChart: { plotColorPalette: lines.map(({ colour }) => colour).join(', ') } }
  }
  return [
    '```mermaid',
    `%%{init: ${JSON.stringify(look)}}%%`,
    'xychart-beta',
    `    title "${title}"`,
    `    x-axis ${xAxis}`,
    // An axis from 0 to 0 has no scale.
    `    y-axis 0 --> ${Math.max(1, ...rows.flat())}`,
    ...rows.map((row) => `    line [${row.join(', ')}]`),
    '```'
  ].join('\n')
}

function writable(value: number): number {
  const bounded = Math.min(LARGEST, value)
  return bounded >= 100 ? Math.round(bounded) : Number(bounded.toFixed(2))
}
