import type { Document } from 'yaml'
import { isObject } from '../../../contract/setting-values.js'
import { decodePart } from '../../../contract/text.js'
import { parseYaml } from '../../../contract/yaml-text.js'
import { fieldIn, listIn, type JsonObject } from '../json-fields.js'
import { SourceError } from '../request.js'

const MOST_ALIASES = 1000
const MOST_HOPS = 50

export class ApiDocument {
  /** References to other files, which are not read. */
  readonly foreign = new Set<string>()

  private constructor(readonly root: JsonObject) {}

  static read(text: string): ApiDocument {
    const root = parse(text.replace(/^\ufeff/, ''))
    const version = isObject(root) ? (fieldIn(root, 'openapi') ?? fieldIn(root, 'swagger')) : undefined
    if (!isObject(root) || !/^(?:3(?:\.|$)|2(?:\.0)?$)/.test(String(version)))
      throw new SourceError(
        'it is not a description of an API: `openapi: 3.…` or `swagger: "2.0"` is expected at its top; give an OpenAPI or Swagger file in YAML or JSON'
      )
    return new ApiDocument(root)
  }

  get isSwagger(): boolean {
    return fieldIn(this.root, 'openapi') === undefined
  }

  /** By name. */
  get securitySchemes(): unknown {
    return this.isSwagger
      ? fieldIn(this.root, 'securityDefinitions')
      : fieldIn(fieldIn(this.root, 'components'), 'securitySchemes')
  }

  /** The value itself, or what it refers to; undefined if that is not in this document. */
  resolve(value: unknown): JsonObject | undefined {
    let found = value
    for (let hop = 0; hop < MOST_HOPS; hop++) {
      if (!isObject(found)) return undefined
      const reference = fieldIn(found, '$ref')
      if (typeof reference !== 'string') return found
      if (!reference.startsWith('#')) {
        this.foreign.add(reference)
        return undefined
      }
      found = this.find(reference)
    }
    return undefined
  }

  resolveList(holder: unknown, key: string): JsonObject[] {
    return listIn(holder, key)
      .map((value) => this.resolve(value))
      .filter((value) => value !== undefined)
  }

  private find(reference: string): unknown {
    return reference
      .slice(1)
      .split('/')
      .slice(1)
      .map((part) => decodePart(part).replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((found, key) => fieldIn(found, key), this.root)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // YAML, of which JSON is a part.
  }
  try {
    return plainJson(parseYaml(text))
  } catch (thrown) {
    // Also too many aliases, a value that contains itself, and nesting that is too deep.
    const [message = ''] = (thrown as Error).message.split('\n')
    throw new SourceError(`it is neither YAML nor JSON: ${message.replace(/:$/, '')}`, { cause: thrown })
  }
}

/** Without the aliases, through which a value may contain itself. */
function plainJson(document: Document): unknown {
  return JSON.parse(JSON.stringify(document.toJS({ maxAliasCount: MOST_ALIASES }) ?? null))
}
