import type { Page } from 'playwright-core'
import type { Point } from './element-handle.js'

const DRAG_MOVES = 5

/** `browser.mouse`. */
export class Mouse {
  constructor(private readonly page: Page) {}

  async move(...points: (number | Point)[]): Promise<void> {
    const [x, y] = points
    if (typeof x === 'number' && typeof y === 'number') await this.page.mouse.move(x, y)
    else for (const [toX, toY] of points as Point[]) await this.page.mouse.move(toX, toY)
  }

  click(x: number, y: number, options?: object): Promise<void> {
    return this.page.mouse.click(x, y, options)
  }

  down(options?: object): Promise<void> {
    return this.page.mouse.down(options)
  }

  up(options?: object): Promise<void> {
    return this.page.mouse.up(options)
  }

  async drag(from: Point, ...to: Point[]): Promise<void> {
    await this.page.mouse.move(...from)
    await this.page.mouse.down()
    for (const [x, y] of to) await this.page.mouse.move(x, y, { steps: DRAG_MOVES })
    await this.page.mouse.up()
  }
}
