import { afterEach, describe, expect, test } from '@jest/globals'
import { request } from 'node:http'
import { type Shop, startShop } from '../../src/service/demo-shop.js'

const shops: Shop[] = []
afterEach(() => Promise.all(shops.splice(0).map((shop) => shop.close())))

async function open(slow: boolean, log?: (line: string) => void): Promise<Shop> {
  const shop = await startShop({ slow, ...(log && { accessLog: log }) })
  shops.push(shop)
  return shop
}

describe('the demo shop', () => {
  test('answers its pages and counts what it served', async () => {
    const lines: string[] = []
    const shop = await open(false, (line) => lines.push(line))
    const order = { method: 'POST', body: 'user=ada' }
    for (const path of ['/', '/search?q=tea', '/products/teapot', '/products/lamp']) {
      expect((await fetch(shop.url + path)).status).toBe(200)
    }
    expect((await fetch(`${shop.url}/checkout`, order)).status).toBe(200)
    expect((await fetch(`${shop.url}/checkout`)).status).toBe(404)
    expect(['home', 'search', 'product', 'checkout'].map((page) => shop.served(page))).toEqual([1, 1, 2, 1])
    expect(shop.served()).toBe(6)
    expect(lines).toContain('POST /checkout 200 checkout')
    expect(lines).toHaveLength(6)
  })

  test('is slower on the given pages, and on no other', async () => {
    const shop = await startShop({ slow: false, slowerBy: 20, slowerPages: ['product'] })
    shops.push(shop)
    const time = async (path: string): Promise<number> => {
      const beganMs = performance.now()
      await (await fetch(shop.url + path)).text()
      return performance.now() - beganMs
    }
    // 100 ms, and 21 times as long.
    const slowMs = time('/products/lamp')
    expect(await time('/')).toBeLessThan(await slowMs)
    expect(await slowMs).toBeGreaterThan(700)
  })

  test('stands still once, and answers what came meanwhile after it', async () => {
    const shop = await startShop({ slow: false, stall: { afterMs: 0, ms: 400 } })
    shops.push(shop)
    const beganMs = performance.now()
    await Promise.all([fetch(shop.url), fetch(`${shop.url}/search?q=tea`)])
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(390)
    expect(shop.served()).toBe(2)
  })

  test('what browsers request on their own does not count', async () => {
    const shop = await open(false)
    for (const path of [
      '/favicon.ico',
      '/apple-touch-icon.png',
      '/.well-known/appspecific/x.json',
      '/robots.txt'
    ])
      expect((await fetch(shop.url + path)).status).toBe(404)
    expect(shop.served()).toBe(0)
    await fetch(`${shop.url}/favicon`)
    expect(shop.served()).toBe(1)
  })

  test('a search finds products, and shows what was typed as text', async () => {
    const shop = await open(false)
    const search = async (term: string): Promise<string> =>
      (await fetch(`${shop.url}/search?q=${encodeURIComponent(term)}`)).text()
    expect(await search('Board game')).toContain('<h1>2 things found</h1>')
    expect(await search('furniture oak')).toContain('<h1>1 thing found</h1>')
    expect(await search('')).toContain('<h1>12 things found</h1>')
    const hostile = await search('<script>alert("1")</script>')
    expect(hostile).toContain('<h1>0 things found</h1>')
    expect(hostile).not.toContain('<script')
  })

  test('every page is complete in itself', async () => {
    const shop = await open(false)
    const order = { method: 'POST', body: 'user=ada' }
    const replies = [
      await fetch(shop.url),
      await fetch(`${shop.url}/search?q=tea`),
      await fetch(`${shop.url}/products/teapot`),
      await fetch(`${shop.url}/products/something-else`),
      await fetch(`${shop.url}/checkout`, order)
    ]
    for (const reply of replies) {
      const html = await reply.text()
      expect(html).toMatch(/^<!doctype html>/)
      expect(html).not.toMatch(/\ssrc=|url\(|@import|<script|<link(?! rel="icon" href="data:,">)/)
      expect(reply.headers.get('cache-control')).toBe('no-store')
    }
  })

  test.each(['//host/', '/..%2f', '/%', '/search/', '/products/', '/products/a/b'])(
    '%s is no page',
    async (path) => {
      const shop = await open(false)
      const { status } = await fetch(shop.url + path)
      expect(status).toBe(404)
      expect(shop.served('not found')).toBe(1)
    }
  )

  test.each(['/', '/search?q=tea', '/products/lamp', '/nowhere', '/checkout'])(
    'HEAD %s answers like GET, without a body',
    async (path) => {
      const shop = await open(false)
      const got = await fetch(shop.url + path)
      const head = await fetch(shop.url + path, { method: 'HEAD' })
      const facts = ({ status, headers }: Response): unknown[] => [
        status,
        headers.get('content-type'),
        headers.get('content-length'),
        headers.get('cache-control')
      ]
      expect(facts(head)).toEqual(facts(got))
      const html = await got.text()
      expect(got.headers.get('content-length')).toBe(String(Buffer.byteLength(html)))
      expect(await head.text()).toBe('')
      expect(shop.served()).toBe(2)
    }
  )

  test.each([
    ['/search?q=tea', 'search'],
    ['/products/lamp', 'product'],
    ['', 'home'],
    ['/nowhere', 'not found']
  ])('the whole address of "%s" is that of the page %s', async (path, page) => {
    const shop = await open(false)
    const target = shop.url.replace('http:', 'HTTP:') + path
    await new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port: shop.port, path: target, agent: false })
      outgoing.once('error', reject)
      outgoing.once('response', (response) => response.resume().once('end', resolve))
      outgoing.end()
    })
    expect(shop.served(page)).toBe(1)
  })

  test('a slow one responds slowly', async () => {
    const took = async (shop: Shop): Promise<number> => {
      const startMs = performance.now()
      await (await fetch(`${shop.url}/products/teapot`)).text()
      return performance.now() - startMs
    }
    expect(await took(await open(true))).toBeGreaterThan(350)
    expect(await took(await open(false))).toBeLessThan(350)
  })

  test('one for comparisons takes about a hundred milliseconds, and longer by the given share', async () => {
    const shop = await startShop({ slow: false, slowerBy: 9 })
    shops.push(shop)
    const startMs = performance.now()
    await (await fetch(shop.url)).text()
    // Between 60 ms without a share and 600 ms with it, and far from both: the times vary by a fifth.
    expect(performance.now() - startMs).toBeGreaterThan(150)
  })
})
