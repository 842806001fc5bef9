/** How much of a large test runs: a slice in `npm test`, all of it with LOADGATE_ALL_SEEDS=1, as in `.ci/run`. */
export function slice(quick: number, all: number): number {
  return process.env.LOADGATE_ALL_SEEDS === undefined ? quick : all
}
