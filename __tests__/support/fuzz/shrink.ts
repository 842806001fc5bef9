import type { RawRequest } from './wire.js'

/** Leaves out of a request whatever it does not need to break the same rule, piece by piece. */
export async function shrink(
  request: RawRequest,
  isBroken: (request: RawRequest) => Promise<boolean>
): Promise<RawRequest> {
  let smallest = request
  for (let isSmaller = true; isSmaller;) {
    isSmaller = false
    for (const candidate of smallerThan(smallest)) {
      if (!(await isBroken(candidate))) continue
      smallest = candidate
      isSmaller = true
      break
    }
  }
  return smallest
}

function* smallerThan(request: RawRequest): Generator<RawRequest> {
  const { headers, body, path } = request
  if (body.length > 0) {
    yield withBody(request, Buffer.alloc(0))
    const half = Math.floor(body.length / 2)
    if (half > 0) {
      yield withBody(request, body.subarray(half))
      yield withBody(request, body.subarray(0, half))
    }
  }
  for (const index of headers.keys()) {
    const [name = ''] = headers[index] ?? []
    if (!['host', 'content-length'].includes(name.toLowerCase()))
      yield { ...request, headers: headers.toSpliced(index, 1) }
  }
  const [plain = '', query] = path.split('?')
  if (query === undefined) return
  yield { ...request, path: plain }
  const pairs = query.split('&')
  if (pairs.length > 1)
    for (const index of pairs.keys())
      yield { ...request, path: `${plain}?${pairs.toSpliced(index, 1).join('&')}` }
}

/** The length goes along, unless it was wrong from the start. */
function withBody(request: RawRequest, body: Buffer): RawRequest {
  if (request.isMisleading) return { ...request, body }
  const headers = request.headers.map(([name, value]): readonly [string, string] => [
    name,
    name.toLowerCase() === 'content-length' ? String(body.length) : value
  ])
  return { ...request, headers, body }
}
