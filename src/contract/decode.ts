import { isObject } from './setting-values.js'
import { shorten } from './text.js'
import * as v from 'valibot'

/** Decodes a document to this. */
export type Schema<T> = v.GenericSchema<unknown, T>

/** What a schema makes of a document. */
export type Decoded<S extends v.GenericSchema> = DeepReadonly<v.InferOutput<S>>

export type DeepReadonly<T> = T extends object ? { readonly [K in keyof T]: DeepReadonly<T[K]> } : T

/** The schema with a description, for the JSON schema that is made from it. */
export const about = <S extends v.GenericSchema>(schema: S, words: string) =>
  v.pipe(schema, v.description(words))

/** What was expected where, by the kind of schema that refused. The library's own messages quote values, which may be secret. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ string: 'text', number: 'a number', boolean: 'true or false', array: 'a list' }
}

/** The first thing that is odd about a document decides: the rest often follows from it. */
const OPTIONS = { abortEarly: true, message: ({ type }: v.BaseIssue<unknown>) => KINDS[type] ?? 'different' }

const LONGEST_QUOTE = 120

/** Where something secret is in a document, or would be in one with another structure. */
const SECRET_PATH = /(_token|users(\[\d+\])?)$/

/** Decodes a document, or says what is odd about it, and where; `within` is its own path if it is a part of another one. */
export function decode<T>(
  schema: Schema<T>,
  value: unknown,
  within = ''
): { value: T } | { odd: string; at: string; message: string } {
  const result = v.safeParse(schema, value, OPTIONS)
  if (result.success) return { value: result.output }
  const [{ path = [], message, input }] = result.issues as [
    v.BaseIssue<unknown> & { path?: { key: unknown }[] }
  ]
  const keys = path.map(({ key }) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  const at = [within, ...keys].join('').replace(/^\./, '')
  return { odd: `${at || 'the reply'} should be ${message}, found ${describeFound(input, at)}`, at, message }
}

/** An object with these keys; what else it contains is left alone. A list is not an object, and a missing key counts as undefined. */
export function document<const E extends v.ObjectEntries>(
  entries: E,
  otherwise = 'an object'
): v.GenericSchema<v.InferInput<v.ObjectSchema<E, undefined>>, v.InferOutput<v.ObjectSchema<E, undefined>>> {
  return v.pipe(
    v.custom<Record<string, unknown>>(isObject, otherwise),
    v.transform((given) =>
      Object.fromEntries(
        Object.entries(entries)
          .filter(([key, { type }]) => type !== 'exact_optional' || key in given)
          .map(([key]) => [key, given[key]])
      )
    ),
    v.object(entries) as unknown as v.GenericSchema<Record<string, unknown>>
  ) as ReturnType<typeof document<E>>
}

/** Only short plain values are quoted: objects may contain tokens. */
function describeFound(value: unknown, path: string): string {
  if (value === undefined) return 'nothing'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return 'an object'
  return SECRET_PATH.test(path) ? 'something else' : shorten(JSON.stringify(value), LONGEST_QUOTE)
}
