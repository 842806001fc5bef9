import { propertyName } from '../plan-text.js'
import type { PlanText } from '../request.js'
import { isConfidentialName } from '../../../values/secret-names.js'
import { isSecretValue } from '../secrets.js'
import { isObject } from './api-document.js'

/** Stand around a property's name within a value; for private use, so that no text needs them. */
const MARKED = /\ue000([a-z0-9_.-]{1,80})\ue001/
const DEEPEST = 60

/** An example, as far as it may be committed: what may be secret, by its name or its shape, comes from a property instead. */
export function hideSecrets(value: unknown, name: string, depth = 0): unknown {
  if (depth > DEEPEST) return undefined
  if (Array.isArray(value)) return value.map((element) => hideSecrets(element, name, depth + 1))
  if (isObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, field]) => [key, hideSecrets(field, key, depth + 1)])
    )
  if (typeof value !== 'string' && typeof value !== 'number') return value
  const isSecret = value !== '' && (isConfidentialName(name) || isSecretValue(String(value)))
  return isSecret ? `\ue000${propertyName(name)}\ue001` : value
}

/** The text with properties where something was hidden, and the rest of it encoded. */
export function showProperties(text: string, encode: (literal: string) => string = String): PlanText {
  return text
    .split(MARKED)
    .map((part, at) => (at % 2 === 1 ? { property: part } : encode(part)))
    .filter((part) => part !== '')
}
