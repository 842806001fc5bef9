import type { Field } from '../http/multipart.js'
import type { RequiredGridKey, Vocabulary } from '../../contract/vocabulary.js'

/** A grid to create. `options` contains the optional keys under their names in the API. */
export interface GridSpecification {
  readonly infrastructure: string
  /** Empty if the service is to choose it. */
  readonly region: string
  readonly nodeCount: number
  /** Empty if the service is to choose it. */
  readonly instanceType: string
  readonly stopAfterMinutes: number
  readonly options: Readonly<Record<string, string>>
  /** Which of the keys that the API requires were left out: only a loadgate has defaults for them. */
  readonly leftOut?: readonly RequiredGridKey[]
}

/** For people. */
export function placeOf({ region }: Pick<GridSpecification, 'region'>): string {
  return region === '' ? "the service's default region" : region
}

export interface GridReference {
  readonly id: string
}

export type GridChoice = GridSpecification | GridReference

export function isReference(choice: GridChoice): choice is GridReference {
  return 'id' in choice
}

export interface RunRequest {
  readonly tool: string
  /** The plan first, then its data files. */
  readonly files: readonly string[]
  /** All of one kind: the body cannot contain both references and specifications. */
  readonly grids: readonly GridChoice[]
  readonly name: string
  readonly notes?: string | undefined
  readonly project?: string | undefined
  readonly tags: readonly string[]
  readonly privacy: 'public' | 'private'
  readonly threads?: number | undefined
  readonly rampupSeconds?: number | undefined
  readonly durationSeconds?: number | undefined
  readonly overrideHosts?: string | undefined
  readonly overrideParameters?: string | undefined
  /** Names of parameters whose values are secret. An addition to the API, which only a loadgate knows. */
  readonly secretParameters?: readonly string[] | undefined
}

export function gridFields(grid: GridSpecification): Field[] {
  return gridEntries(grid).map(([key, value]) => ({ name: `grid[${key}]`, value }))
}

export function runFields(run: RunRequest, words: Vocabulary): Field[] {
  const plain: [string, string | number | undefined][] = [
    ['tool', words.toolName(run.tool)],
    ['name', run.name],
    ['notes', run.notes],
    ['project', run.project],
    ['tag_list', run.tags.join(',') || undefined],
    // The document's table and its examples disagree on the name.
    ['privacy_flag', run.privacy],
    ['privacy', run.privacy],
    ['threads', run.threads],
    ['rampup', run.rampupSeconds],
    ['duration', run.durationSeconds],
    ['override_hosts', run.overrideHosts],
    ['override_parameters', run.overrideParameters],
    ['secret_parameters', (run.secretParameters ?? []).join(',') || undefined]
  ]
  return [
    ...plain.flatMap(([key, value]) =>
      value === undefined ? [] : [{ name: `${words.run}[${key}]`, value: String(value) }]
    ),
    ...run.grids.flatMap((grid) => gridElement(grid, words))
  ]
}

/** Element by element, each starting with the same key: the parser starts a new element when a key repeats. */
function gridElement(grid: GridChoice, words: Vocabulary): Field[] {
  const entries = isReference(grid) ? [['uuid', grid.id] as const] : gridEntries(grid)
  return entries.map(([key, value]) => ({ name: `${words.run}[grids][][${key}]`, value }))
}

function gridEntries(grid: GridSpecification): (readonly [string, string])[] {
  return [
    ['infrastructure', grid.infrastructure],
    ['region', grid.region],
    ['instance_quantity', String(grid.nodeCount)],
    ['instance_type', grid.instanceType],
    ['stop_after', String(grid.stopAfterMinutes)],
    ...Object.entries(grid.options)
  ].flatMap(([key = '', value = '']) => (value === '' ? [] : [[key, value] as const]))
}
