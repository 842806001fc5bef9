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

/** Names each file by its own name, or by its whole path if two are the same. */
export function nameSources(files: readonly { readonly path: string; readonly shown: string }[]) {
  const nameOf = (path: string): string => basename(path).replace(ENDING, '') || basename(path)
  return files.map(({ path, shown }): ResultSource => {
    const name = nameOf(path)
    const [, region = 'local', grid = name] = REGION_AND_GRID.exec(name) ?? []
    const isUnique = files.filter((other) => nameOf(other.path) === name).length === 1
    return { path, shown, grid: isUnique ? grid : shown, region }
  })
}
