import type { ServerResponse } from 'node:http'
import { pick, upTo } from './whole-plan.js'
import type { Random } from './whole-plan.js'

/** What one request is answered with: the honest reply, and what there is to spoil it with. */
export interface Exchange {
  readonly res: ServerResponse
  readonly random: Random
}

type Json = Record<string, unknown>

/** A reply in JSON is spoilt. */
export type JsonFault = (exchange: Exchange, document: Json) => void

const DELIVERY_MS = 2
const PAGE = '<!doctype html>\n<html><title>One moment</title><h1>One moment</h1></html>'
const SENTENCES = ['results are being prepared', 'Not yet, sorry,\ntry again', '\n', ' \r\n', 'ok']

export function sendJson({ res }: Exchange, document: unknown, status = 200): void {
  sendText(res, JSON.stringify(document), { status, type: 'application/json' })
}

function sendText(res: ServerResponse, text: string, { status = 200, type = 'text/html' } = {}): void {
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Bytes are on their way before the connection breaks. */
function breakOff(res: ServerResponse, bytes: string | Uint8Array): void {
  res.write(bytes, () => setTimeout(() => res.destroy(), DELIVERY_MS))
}

const refuse =
  (...statuses: number[]): JsonFault =>
  ({ res, random }) =>
    sendText(res, '{"error":"one moment"}', { status: pick(random, statuses), type: 'application/json' })

/** Spoils any reply in JSON. */
export const JSON_FAULTS: Readonly<Record<string, JsonFault>> = {
  dropped: ({ res }) => res.destroy(),
  cut: ({ res, random }, document) => {
    const text = JSON.stringify(document)
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
    breakOff(res, text.slice(0, 1 + upTo(random, text.length - 2)))
  },
  'cut, with a length that fits': ({ res, random }, document) => {
    const text = JSON.stringify(document)
    sendText(res, text.slice(0, upTo(random, text.length - 2)), { type: 'application/json' })
  },
  'refused in passing': refuse(429, 500, 502, 503),
  'a page': ({ res }) => sendText(res, PAGE),
  'a sentence': ({ res, random }) => sendText(res, pick(random, SENTENCES), { type: 'text/plain' }),
  'another shape': ({ res, random }) =>
    sendText(res, pick(random, ['{}', '[]', 'null', '"x"', '0']), { type: 'application/json' }),
  delayed: (exchange, document) => void setTimeout(() => sendJson(exchange, document), 3)
}

/** A run's document from elsewhere: another run's, or its own from before. */
export const RUN_FAULTS: Readonly<Record<string, JsonFault>> = {
  ...JSON_FAULTS,
  'of another run': (exchange, document) =>
    sendJson(exchange, { ...document, uuid: 'another', status: 'finished', apdex: '1.00 [500]' }),
  'from before': (exchange, document) => sendJson(exchange, { ...document, status: 'running', apdex: null })
}

/** Only where it was requested how many there must be. */
export const GRID_FAULTS: Readonly<Record<string, JsonFault>> = {
  'without its grids': (exchange, document) =>
    sendJson(exchange, embed(document, { grids: [], results: [] })),
  'with one grid too few': (exchange, document) => {
    const { grids, results } = document._embedded as { grids: unknown[]; results: unknown[] }
    sendJson(exchange, embed(document, { grids: grids.slice(1), results: results.slice(1) }))
  }
}

/** A run that has ended says less than it will. */
export const LATE_FAULTS: Readonly<Record<string, JsonFault>> = {
  ...GRID_FAULTS,
  'without its apdex': (exchange, document) => sendJson(exchange, { ...document, apdex: null }),
  'without its links': (exchange, document) => sendJson(exchange, embed(document, { results: [] })),
  'in another order, twice': (exchange, document) => {
    const { grids, results } = document._embedded as { grids: unknown[]; results: unknown[] }
    const turned = (list: unknown[]): unknown[] => [...list, ...list].reverse()
    sendJson(exchange, embed(document, { grids: turned(grids), results: turned(results) }))
  }
}

function embed(document: Json, changes: Json): Json {
  return { ...document, _embedded: { ...(document._embedded as Json), ...changes } }
}

/** The CSV, and from where on it was asked for. */
export interface CsvRequest {
  readonly csv: Buffer
  readonly etag: string
  /** Undefined where all of it was. */
  readonly fromByte: number | undefined
}

export type CsvFault = (exchange: Exchange, request: CsvRequest) => void

export function sendCsv({ res }: Exchange, { csv, etag, fromByte }: CsvRequest): void {
  const headers = { 'content-type': 'text/csv', etag }
  if (fromByte === undefined || fromByte >= csv.length)
    res.writeHead(200, { ...headers, 'content-length': csv.length }).end(csv)
  else sendPart(res, { csv, etag, fromByte, toByte: csv.length })
}

interface Part {
  readonly csv: Buffer
  readonly etag: string
  readonly fromByte: number
  readonly toByte: number
  readonly total?: string
  /** In place of the bytes that the part should have. */
  readonly body?: Uint8Array
}

function sendPart(res: ServerResponse, part: Part): void {
  const {
    csv,
    etag,
    fromByte,
    toByte,
    total = String(csv.length),
    body = csv.subarray(fromByte, toByte)
  } = part
  res
    .writeHead(206, {
      'content-type': 'text/csv',
      etag,
      'content-range': `bytes ${fromByte}-${toByte - 1}/${total}`,
      'content-length': body.length
    })
    .end(body)
}

/** Breaks off with a version, so that the rest is asked for; the rest is what the fault is about. */
const onRest =
  (spoil: (exchange: Exchange, request: CsvRequest & { fromByte: number }) => void): CsvFault =>
  (exchange, request) => {
    const { fromByte } = request
    if (fromByte === undefined) CSV_FAULTS['broken off']!(exchange, request)
    else spoil(exchange, { ...request, fromByte })
  }

const instead =
  (...texts: string[]): CsvFault =>
  ({ res, random }) =>
    sendText(res, pick(random, texts), { type: pick(random, ['text/csv', 'text/plain']) })

export const CSV_FAULTS: Readonly<Record<string, CsvFault>> = {
  dropped: ({ res }) => res.destroy(),
  'refused for now': (exchange) => refuse(404, 409, 423, 429, 500, 503)(exchange, {}),
  'broken off': ({ res, random }, { csv, etag }) => {
    res.writeHead(200, { 'content-type': 'text/csv', 'content-length': csv.length, etag })
    breakOff(res, csv.subarray(0, 1 + upTo(random, csv.length - 2)))
  },
  'broken off, without a version': ({ res, random }, { csv }) => {
    res.writeHead(200, { 'content-type': 'text/csv', 'content-length': csv.length })
    breakOff(res, csv.subarray(0, 1 + upTo(random, csv.length - 2)))
  },
  'broken off in chunks': ({ res, random }, { csv, etag }) => {
    res.writeHead(200, { 'content-type': 'text/csv', etag })
    breakOff(res, csv.subarray(0, 1 + upTo(random, csv.length - 2)))
  },
  'closed early, without a length': ({ res, random }, { csv }) => {
    // Anywhere but at a row's end: there nothing would tell.
    const at = 1 + upTo(random, csv.length - 3)
    const end = [10, 13].includes(csv[at - 1]!) || [10, 13].includes(csv[at]!) ? at - 2 : at
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\nconnection: close\r\n\r\n'
    res.socket?.end(Buffer.concat([Buffer.from(head), csv.subarray(0, Math.max(1, end))]))
  },
  'a shorter part than was asked for': onRest(({ res, random }, request) => {
    const left = request.csv.length - request.fromByte
    const rowEnd = request.csv.indexOf(10, request.fromByte + Math.floor(left / 2)) + 1
    const toByte = random() < 0.5 && rowEnd > 0 ? rowEnd : request.fromByte + 1 + upTo(random, left - 1)
    sendPart(res, { ...request, toByte: Math.min(toByte, request.csv.length) })
  }),
  'another part than was asked for': onRest(({ res, random }, request) => {
    const fromByte = upTo(random, request.csv.length - 2)
    sendPart(res, {
      ...request,
      fromByte: fromByte === request.fromByte ? fromByte + 1 : fromByte,
      toByte: request.csv.length
    })
  }),
  'a part of another size of CSV': onRest(({ res, random }, request) => {
    const total = request.csv.length + (random() < 0.5 ? 100 : -1)
    sendPart(res, { ...request, toByte: Math.min(total, request.csv.length), total: String(total) })
  }),
  'a part without bytes': onRest(({ res }, request) =>
    sendPart(res, { ...request, toByte: request.csv.length, body: new Uint8Array(0) })
  ),
  'a part of nobody knows how much': onRest(({ res, random }, request) => {
    const left = request.csv.length - request.fromByte
    sendPart(res, { ...request, toByte: request.fromByte + 1 + upTo(random, left - 1), total: '*' })
  }),
  'no rest': onRest(({ res }, { csv }) => {
    res.writeHead(416, { 'content-range': `bytes */${csv.length}`, 'content-length': 0 }).end()
  }),
  'a part that nobody asked for': ({ res, random }, { csv, etag }) => {
    const version = random() < 0.5 ? { etag } : { etag: `W/${etag}` }
    sendPart(res, { csv, ...version, fromByte: 0, toByte: 1 + upTo(random, csv.length - 1) })
  },
  'a sentence': instead(...SENTENCES),
  'a page': instead(PAGE),
  'an error in JSON': instead('{"error":"not ready"}', '[]', '{\n"errors": ["x"]\n}'),
  'half a header': ({ res }, { csv }) => {
    const header = csv.subarray(0, csv.indexOf(10)).toString()
    sendText(res, header.slice(0, Math.floor(header.length / 2)), { type: 'text/csv' })
  },
  'the header alone': ({ res }, { csv }) =>
    sendText(res, csv.subarray(0, csv.indexOf(10) + 1).toString(), { type: 'text/csv' }),
  'nothing at all': instead(''),
  'bytes in another encoding': ({ res }, { csv }) => {
    res.writeHead(200, { 'content-encoding': 'br', 'content-length': csv.length }).end(csv)
  },
  'piece by piece': ({ res, random }, { csv, etag }) => {
    res.writeHead(200, { 'content-type': 'text/csv', etag })
    const step = 1 + upTo(random, 200)
    for (let at = 0; at < csv.length; at += step) res.write(csv.subarray(at, at + step))
    res.end()
  },
  'without a length': ({ res }, { csv }) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/csv\r\nconnection: close\r\n\r\n'
    res.socket?.end(Buffer.concat([Buffer.from(head), csv]))
  }
}

/** Half the rows with a length that fits: nothing but their span tells, where somebody has said how long it should be. */
export const HALF_THE_ROWS: CsvFault = (exchange, request) => {
  const end = request.csv.indexOf(10, Math.floor(request.csv.length / 2)) + 1
  sendCsv(exchange, { ...request, csv: request.csv.subarray(0, end), fromByte: undefined })
}
