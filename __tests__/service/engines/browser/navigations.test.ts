import { beforeEach, describe, expect, test } from '@jest/globals'
import { EventEmitter } from 'node:events'
import { Navigations } from '../../../../src/service/programs/element/api/navigations.js'

let context: EventEmitter
let navigations: Navigations
beforeEach(() => {
  context = new EventEmitter()
  navigations = new Navigations(context as never)
})

const PAGE = { parentFrame: () => null }
const INNER = { parentFrame: () => PAGE }

function request(
  url: string,
  { isNavigation = true, frame = (): object => PAGE, errorText = '' } = {}
): object {
  return {
    ...{ url: () => url, isNavigationRequest: () => isNavigation, frame },
    failure: () => ({ errorText })
  }
}

function respond(status: number, url = '/a', about: Parameters<typeof request>[1] = {}): void {
  context.emit('response', { status: () => status, url: () => url, request: () => request(url, about) })
}

describe('bad pages', () => {
  test('the worst one since the last time counts', () => {
    respond(404, '/missing')
    respond(503, '/busy')
    respond(500, '/broken')
    respond(200)
    expect(navigations.hasBadPage).toBe(true)
    expect(navigations.takeBadPage()).toEqual({
      ...{ status: 503, url: '/busy', failure: 'the page responded with 503' }
    })
    expect(navigations.takeBadPage()).toBeUndefined()
  })

  test('parts of a page are none', () => {
    respond(404, '/image', { isNavigation: false })
    respond(404, '/advertisement', { frame: () => INNER })
    respond(399)
    expect(navigations.hasBadPage).toBe(false)
  })

  test('a popup that is being opened is one', () => {
    const frame = (): never => {
      throw new Error('Frame for this navigation request is not available')
    }
    respond(500, '/popup', { frame })
    expect(navigations.takeBadPage()).toMatchObject({ status: 500, url: '/popup' })
  })

  test('a page that does not load is one, but not if another took its place', () => {
    context.emit('requestfailed', request('/old', { errorText: 'net::ERR_ABORTED' }))
    expect(navigations.hasBadPage).toBe(false)
    context.emit('requestfailed', request('/gone', { errorText: 'net::ERR_CONNECTION_REFUSED' }))
    expect(navigations.takeBadPage()).toEqual({
      ...{ status: 0, url: '/gone', failure: 'the page did not load: net::ERR_CONNECTION_REFUSED' }
    })
  })

  test('are not looked for in the next loop by the browser of this one', () => {
    navigations.dispose()
    respond(500)
    expect(navigations.hasBadPage).toBe(false)
    expect(context.eventNames()).toEqual([])
  })
})

describe('navigation', () => {
  const open = (): { page: never; emit: (frame: object) => void; close: () => void } => {
    const page = Object.assign(new EventEmitter(), { mainFrame: () => PAGE })
    navigations.watch(page as never)
    return {
      ...{ page: page as never, emit: (frame: object) => void page.emit('framenavigated', frame) },
      close: () => void page.emit('close')
    }
  }
  const isOver = async (waiting: Promise<void>): Promise<boolean> =>
    Promise.race([
      waiting.then(() => true),
      new Promise<boolean>((resolve) => setImmediate(() => resolve(false)))
    ])

  test('one since the last action is enough, an earlier one and that of a frame are not', async () => {
    const { page, emit } = open()
    emit(PAGE)
    await navigations.untilNavigated(page, 60_000)
    navigations.beginAction(page)
    const waiting = navigations.untilNavigated(page, 60_000)
    emit(INNER)
    expect(await isOver(waiting)).toBe(false)
    emit(PAGE)
    expect(await isOver(waiting)).toBe(true)
  })

  test('is not waited for without end', async () => {
    const { page, close } = open()
    await expect(navigations.untilNavigated(page, 5)).rejects.toThrow('waited 0.005 s for a navigation')
    const waiting = navigations.untilNavigated(page, 60_000)
    close()
    await expect(waiting).rejects.toThrow('the page was closed')
  })
})
