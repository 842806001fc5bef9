import type { FastifyReply, FastifyRequest } from 'fastify'
import { PAGE_HEADERS } from '../pages/send-page.js'
import { route, type Route } from '../service-facts.js'
import { type FileParts, sendArchive, sendLog, sendResults, sendUploaded, sendVerdict } from './send-files.js'

type Send = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** The files that a run's page links to: a session does not open the API, so these are pages, with the same content. */
export function downloadRoutes(parts: FileParts): Route[] {
  const download = (name: string, send: Send): Route =>
    route('GET', `/${parts.facts.words.runs}/:id/download/${name}`, { page: 'always' }, (request, reply) =>
      send(request, reply.headers(PAGE_HEADERS))
    )
  return [
    download('result.csv', (request, reply) => sendResults(request, reply, parts)),
    download('verdict.json', (request, reply) => sendVerdict(request, reply, parts)),
    download('archive.tar.gz', (request, reply) => sendArchive(request, reply, parts)),
    download('files/:file', (request, reply) => sendUploaded(request, reply, parts.facts)),
    download('logs/:log', (request, reply) => sendLog(request, reply, parts.facts))
  ]
}
