import type { GridSpec } from '../../contract/records.js'

export * from '../../contract/records.js'

/** A grid of a run: to be created for it, or one that exists. */
export type GridWish = { readonly spec: GridSpec } | { readonly uuid: string }
