import { basename } from 'node:path'

/** A file with results, and what it is called in the figures. */
export interface ResultSource {
  readonly path: string
  /** For messages: as it was given. */
  readonly shown: string
  readonly grid: string
  readonly region: string
}

/** As the artifact names its CSVs: region, then grid. */
const REGION_AND_GRID = /^([a-z]{2}-[a-z]+-\d)-(.+)$/
const ENDING = /(?:\.(?:csv|jtl|xml|json|jsonl|ndjson|txt|log))?(?:\.gz)?$/i

/** Names each file by its own name, without a region before it and without an ending; by more of its path if another one could be meant. */
export function nameSources(files: readonly { readonly path: string; readonly shown: string }[]) {
  const named = files.map(({ path, shown }) => {
    const name = basename(path).replace(ENDING, '') || basename(path)
    const [, region = 'local', grid = name] = REGION_AND_GRID.exec(name) ?? []
    return { path, shown, region, names: [grid, name, shown] }
  })
  return named.map(({ names, ...file }): ResultSource => {
    const others = new Set(named.flatMap((other) => (other.path === file.path ? [] : other.names)))
    return { ...file, grid: names.find((name) => !others.has(name)) ?? file.shown }
  })
}
