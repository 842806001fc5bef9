import { describeInput } from '../gate/settings/input-table.js'
import type { InputName } from '../gate/settings/inputs.js'
import { REGIONS_FLAG } from './typed-regions.js'

/** What differs at a terminal, where there is no workflow, job or step. */
const ABOUT_HERE: Readonly<Partial<Record<InputName, string>>> = {
  config:
    'YAML file whose keys are these flags without their dashes. A flag wins over the file. Unknown keys are an error. Default: none.',
  'base-url':
    'Address of the load-test service (https), with or without `/api`; or `local`, the embedded service on this machine. The API token comes from LOADGATE_TOKEN. Default: LOADGATE_BASE_URL, or `local` if that is not set.',
  files:
    'Path or glob, relative to the current directory. The first must match exactly one file, the plan; repeat the flag for its data files. One that starts with `!` excludes files. Two files with the same base name are an error. Required unless `run-id` or `repeat` is given.',
  name: 'Name of the run. Default: `loadgate`.',
  regions: REGIONS_FLAG.about,
  'on-missing-token':
    'What to do if LOADGATE_TOKEN is not set and the service needs it: `fail`, or `skip`, which ends with the verdict `skipped` and exit code 0. Default: `fail`.',
  'stop-on-cancel': 'Stop the run on Ctrl-C. Default: `true`.',
  baseline:
    'What to compare with: the path of a baseline document (`loadgate baseline record` writes one); or `side-by-side`, which runs base and head in turns. `auto` compares with recorded runs in GitHub Actions, and with nothing here; `off` compares with nothing, and refuses lines that name `baseline`. Default: `auto`.',
  'fail-on':
    '`breach` ends with exit code 1 when a threshold is broken and with 2 when one is inconclusive; `never` ends with 0 in these two cases. Default: `breach`.'
}

/** What the help of the command line says about an input. */
export function describeFlag(name: InputName): string {
  return ABOUT_HERE[name] ?? describeInput(name)
}
