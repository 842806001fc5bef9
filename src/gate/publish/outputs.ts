/** Every output of the contract. */
export const OUTPUT_NAMES = [
  'run-id',
  'run-url',
  'status',
  'verdict',
  'apdex',
  'apdex-target',
  'summary',
  'metrics',
  'thresholds',
  'results-dir',
  'artifact-id',
  'artifact-url',
  'baseline',
  'saved-seconds'
] as const

export type OutputName = (typeof OUTPUT_NAMES)[number]
