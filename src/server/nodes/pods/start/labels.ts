export const MARKER_LABEL = 'loadgate.dev/marker'
const RUN_LABEL = 'loadgate.dev/run'
export const GRID_LABEL = 'loadgate.dev/grid'

/** What identifies a grid's Job and pods as ours, whoever looks for them later. */
export function labelsOf(owner: {
  marker: string
  gridId: string
  runId: string | undefined
}): Record<string, string> {
  return {
    'app.kubernetes.io/managed-by': 'loadgate',
    [MARKER_LABEL]: owner.marker,
    [GRID_LABEL]: owner.gridId,
    ...(owner.runId !== undefined && { [RUN_LABEL]: owner.runId })
  }
}

const VALUE = /^[A-Za-z0-9](?:[\w.-]{0,61}[A-Za-z0-9])?$/

/** As the API takes it: objects that have all of these labels. Whatever it finds may be deleted, so no value is taken on trust. */
export function selectorOf(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels)
    .map(([name, value]) => {
      if (!VALUE.test(value)) throw new Error(`"${value}" cannot be the value of the label ${name}.`)
      return `${name}=${value}`
    })
    .join(',')
}

/** Finds the Job and the pods of a grid, and nobody else's. */
export function gridSelector({ marker, gridId }: { marker: string; gridId: string }): string {
  return selectorOf({ [MARKER_LABEL]: marker, [GRID_LABEL]: gridId })
}
