import { afterEach, describe, expect, test } from '@jest/globals'
import { type Shop, startShop } from '../../src/server/demo-shop.js'

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

  test('a slow one responds slowly', async () => {
    const took = async (shop: Shop): Promise<number> => {
      const startMs = performance.now()
      await (await fetch(`${shop.url}/products/teapot`)).text()
      return performance.now() - startMs
    }
    expect(await took(await open(true))).toBeGreaterThan(350)
    expect(await took(await open(false))).toBeLessThan(350)
  })
})
