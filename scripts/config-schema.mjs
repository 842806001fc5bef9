// Writes schema/config.schema.json, the JSON schema of the config file for editors, from the code's own tables: part of npm run schema
// It is draft 7, which editors know best. The gate reads every plain value as text, so that 00123 stays an id; an editor reads
// numbers and booleans, and both are accepted here. What depends on several keys is left to `loadgate check`.
import { LIST_KEYS, REFUSED_KEYS } from '../src/gate/settings/config-file.ts'
import { INPUT_TABLE, describeInput } from '../src/gate/settings/input-table.ts'
import { DEFAULTS, INPUT_NAMES } from '../src/gate/settings/inputs.ts'
import {
  INFRASTRUCTURES,
  MAX_STOP_AFTER_MIN,
  OPTIONAL_GRID_KEYS,
  REQUIRED_GRID_KEYS
} from '../src/protocol/grid-keys.ts'
import { TOOLS } from '../src/protocol/vocabulary.ts'
import {
  duration,
  flag,
  integer,
  listOf,
  mapOf,
  matching,
  named,
  oneOf,
  regions,
  text
} from './schema-parts.mjs'
import { writeSchema } from './write-schema.mjs'

/** By the kind of value in the table of inputs, unless the input has a schema of its own. */
const KINDS = {
  duration: duration(1),
  percent: { type: 'string', pattern: '^\\s*[0-9]{1,3}(\\.[0-9]{1,6})?\\s?%\\s*$' },
  days: integer(1, 400),
  id: matching('^\\s*[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\s*$'),
  word: matching('^\\s*[a-z][a-z0-9_-]{0,63}\\s*$')
}
const OWN = {
  'base-url': { type: 'string', pattern: '^\\s*(local|https?://\\S+)\\s*$', examples: ['local'] },
  tool: oneOf(...TOOLS),
  privacy: oneOf('private', 'public'),
  threads: integer(1),
  rampup: duration(0),
  'warm-up': duration(0),
  'baseline-rounds': integer(3, 100),
  confirm: integer(0, 10),
  'wait-for': { type: 'string', pattern: '^\\s*https?://\\S+(\\s+[0-9][0-9hms]*)?\\s*$' },
  baseline: { type: 'string', pattern: '\\S', examples: ['auto', 'off', 'side-by-side'] },
  grids: {
    anyOf: [
      { type: 'string', pattern: '\\S' },
      listOf({ anyOf: [matching('^\\s*[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\s*$'), gridByUuid(), grid()] })
    ]
  },
  regions: {
    anyOf: [{ type: 'string', pattern: '\\S' }, regions()]
  }
}

function gridByUuid() {
  return {
    ...mapOf({ uuid: matching('^\\s*[A-Za-z0-9][A-Za-z0-9_-]{0,127}\\s*$') }),
    required: ['uuid'],
    description: 'A grid that exists.'
  }
}

function grid() {
  const own = {
    infrastructure: oneOf(...INFRASTRUCTURES),
    instance_quantity: integer(1),
    stop_after: { ...integer(1, MAX_STOP_AFTER_MIN), description: 'In minutes.' },
    aws_spot_price: matching('^\\s*[0-9]+(\\.[0-9]+)?\\s*$')
  }
  return {
    ...mapOf(named([...REQUIRED_GRID_KEYS, ...OPTIONAL_GRID_KEYS], (name) => own[name] ?? text)),
    description:
      'A grid to create. A service needs infrastructure, region, instance_quantity, instance_type and stop_after; with `base-url: local` each has a default.'
  }
}

/** An input whose kind is a list of words takes one of them. */
function choiceOf(value) {
  if (value === 'true|false') return flag
  return value.includes('|') ? oneOf(...value.split('|')) : undefined
}

function schemaOf(name) {
  const { value } = INPUT_TABLE[name]
  const own = OWN[name] ?? KINDS[value] ?? choiceOf(value) ?? text
  const schema = LIST_KEYS.includes(name) ? { anyOf: [own, listOf(own)] } : own
  return {
    description: describeInput(name),
    ...schema,
    ...(DEFAULTS[name] !== undefined && { default: plainValue(DEFAULTS[name]) })
  }
}

/** As people write it in a file: what an editor completes. */
function plainValue(given) {
  if (/^(true|false)$/.test(given)) return given === 'true'
  return /^\d+$/.test(given) ? Number(given) : given
}

function makeSchema() {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Config file of loadgate',
    description:
      'The file that `config` names: its keys are the inputs of the action and flags of the command line.',
    ...mapOf(
      named(
        INPUT_NAMES.filter((name) => !REFUSED_KEYS.includes(name)),
        schemaOf
      )
    )
  }
}

await writeSchema('config.schema.json', makeSchema())
