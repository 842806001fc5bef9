// What the JSON schemas of the config files have in common. Editors read numbers and booleans where the project reads text: both are
// accepted.
import { KUBERNETES_KEYS } from '../src/regions/parse-regions.ts'

export const text = { type: ['string', 'number', 'boolean'], pattern: '\\S' }
export const listOf = (items, description) => ({
  type: 'array',
  minItems: 1,
  items,
  ...(description && { description })
})
export const oneOf = (...choices) => ({ enum: choices })
export const integer = (minimum, maximum) => ({
  type: ['integer', 'string'],
  minimum,
  ...(maximum !== undefined && { maximum }),
  pattern: '^\\s*[0-9]{1,9}\\s*$'
})
export const matching = (pattern) => ({ type: ['string', 'number'], pattern })
export const duration = (minimum) => ({
  type: ['integer', 'string'],
  minimum,
  pattern: '^\\s*(?=[0-9])([0-9]{1,7}|([0-9]{1,5}h)?([0-9]{1,6}m)?([0-9]{1,7}s)?)\\s*$'
})
export const flag = oneOf(true, false, 'true', 'false')
export const mapOf = (properties) => ({ type: 'object', additionalProperties: false, properties })
export const named = (names, schemaOf) => Object.fromEntries(names.map((name) => [name, schemaOf(name)]))

/** A map from the names of regions to places. */
export function regions() {
  return {
    type: 'object',
    minProperties: 1,
    additionalProperties: { anyOf: [inKubernetes(), inProcesses()] }
  }
}

function inProcesses() {
  return {
    ...mapOf({ processes: mapOf({}) }),
    required: ['processes'],
    description: 'Processes on this machine.'
  }
}

function inKubernetes() {
  const label = { type: ['string', 'number', 'boolean'] }
  const own = {
    'node-selector': { type: 'object', additionalProperties: label },
    tolerations: {
      type: 'array',
      items: mapOf({
        key: text,
        operator: oneOf('Exists', 'Equal'),
        value: text,
        effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
        tolerationSeconds: integer(0)
      })
    },
    'image-pull-secrets': {
      type: 'array',
      items: { anyOf: [text, { ...mapOf({ name: text }), required: ['name'] }] }
    },
    'image-pull-policy': oneOf('Always', 'IfNotPresent', 'Never'),
    'host-network': flag,
    'instance-types': {
      type: 'object',
      additionalProperties: {
        ...mapOf({
          cpu: { type: ['number', 'string'], pattern: '[1-9]' },
          memory: { type: 'string', pattern: '^\\s*[0-9]{1,12}(\\.[0-9]{1,3})?([KMGTPE]i|[kMGTPE])\\s*$' }
        }),
        required: ['cpu', 'memory']
      }
    },
    'start-timeout': duration(1)
  }
  return {
    ...mapOf({ kubernetes: mapOf(named(KUBERNETES_KEYS, (name) => own[name] ?? text)) }),
    required: ['kubernetes'],
    description: 'Pods of a cluster.'
  }
}
