import { isObject } from '../../../contract/setting-values.js'
import { encodePath, readTarget, type PlanTarget } from '../request.js'
import type { ApiDocument } from './api-document.js'
import { fieldIn, listIn, textIn, type JsonObject } from '../json-fields.js'

/** Where an API is: the target, if the document says, and what all paths start with. */
export interface ApiServer {
  readonly target: PlanTarget | undefined
  readonly basePath: string
  /** A path at the host of the document, whichever that is. */
  readonly isRelative: boolean
}

export const HERE: ApiServer = { target: undefined, basePath: '', isRelative: true }
/** Only for reading a relative address. */
export const NOWHERE = 'http://relative.invalid/'

/** The first server of the document; of an operation or a path, if it has its own. */
export function readServer(api: ApiDocument, holder: JsonObject = api.root): ApiServer | undefined {
  if (api.isSwagger) return holder === api.root ? readSwagger(holder) : undefined
  const [server] = listIn(holder, 'servers')
  if (isObject(server)) return readAddress(fillIn(server))
  return holder === api.root ? HERE : undefined
}

function readSwagger(root: JsonObject): ApiServer {
  const schemes = listIn(root, 'schemes')
  const scheme = schemes.includes('https') || schemes.length === 0 ? 'https' : 'http'
  const host = textIn(root, 'host')
  const path = textIn(root, 'basePath')
  return readAddress(host === '' ? path || '/' : `${scheme}://${host}/${path.replace(/^\//, '')}`)
}

function readAddress(address: string): ApiServer {
  if (!URL.canParse(address, NOWHERE)) return { target: undefined, basePath: '', isRelative: false }
  const url = new URL(address, NOWHERE)
  const isRelative = url.origin === new URL(NOWHERE).origin
  return {
    target: isRelative ? undefined : readTarget(url),
    basePath: encodePath(url.pathname.replace(/\/+$/, '')),
    isRelative
  }
}

/** `https://{region}.example.com/{version}` with the variables' defaults. */
function fillIn(server: JsonObject): string {
  const variables = fieldIn(server, 'variables')
  return textIn(server, 'url').replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = fieldIn(variables, name)
    const value = fieldIn(variable, 'default') ?? listIn(variable, 'enum')[0]
    return typeof value === 'string' || typeof value === 'number' ? String(value) : whole
  })
}
