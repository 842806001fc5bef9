/** Relative to the folder in which `loadgate init` runs, with slashes on every system. */
export const PLAN_PATH = 'load/plan.jmx'
export const CONFIG_PATH = '.github/loadgate.yml'
export const WORKFLOW_PATH = '.github/workflows/loadgate.yml'
