import { setTimeout as delay } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { Type } from 'typebox'
import { read } from '../in-page/read.ts'
import { defineAction, selectorField } from './action.ts'

const signs = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const

const maxFrames = 20
/** Interval between checks of the movement, and their max duration (ms). */
const look = { every: 40, atMost: 1000 }

/** Turns the wheel of a mouse over a place. */
export const scroll = defineAction({
  fields: {
    selector: Type.Optional(selectorField),
    direction: Type.Enum(['up', 'down', 'left', 'right']),
    amount: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1_000_000,
        description: 'Distance in CSS pixels. Default: most of the window.',
      }),
    ),
  },
  waitsFor: () => 'the page to scroll',
  async run({ page, cdp, timeout, locate }, { selector, direction, amount }) {
    const [x, y] = signs[direction as keyof typeof signs]
    const { width, height } = page.viewportSize() ?? { width: 1280, height: 720 }
    const distance = amount ?? Math.round(0.8 * (y === 0 ? width : height))
    const where = selector === undefined ? undefined : await middleOf(selector)
    const place = where ?? (await read(page, 'wheelPoint', { x, y }, timeout))
    await movedIn(page, true, timeout)
    const wheel = { type: 'mouseWheel', deltaX: x * distance, deltaY: y * distance, ...place } as const
    await cdp.send('Input.dispatchMouseEvent', wheel)
    return { moved: await settled() }

    /** Returns the middle of the element's visible part. */
    async function middleOf(givenSelector: string) {
      const element = await locate(givenSelector)
      await element.scrollIntoViewIfNeeded({ timeout })
      const box = (await element.boundingBox({ timeout })) ?? { x: 0, y: 0, width, height }
      const middle = (start: number, length: number, end: number) =>
        (Math.max(start, 0) + Math.min(start + length, end)) / 2
      return { x: middle(box.x, box.width, width), y: middle(box.y, box.height, height) }
    }

    /** Returns the movement once it has stopped; a page can move smoothly. */
    async function settled() {
      const end = performance.now() + Math.min(timeout, look.atMost)
      let moved = await movedIn(page, false, timeout)
      for (let still = 0; still < 2 && performance.now() < end; ) {
        await delay(look.every)
        const now = await movedIn(page, false, timeout)
        still = now.x === moved.x && now.y === moved.y ? still + 1 : 0
        moved = now
      }
      return moved
    }
  },
})

/** Returns the distance that the page, or a frame of it, has moved. */
async function movedIn(page: Page, isStart: boolean, timeout: number): Promise<{ x: number; y: number }> {
  const [main, ...others] = page.frames().slice(0, maxFrames)
  const none = { x: 0, y: 0 }
  const all = await Promise.all([
    main === undefined ? none : read(main, 'scrolled', isStart, timeout),
    ...others.map(frame => read(frame, 'scrolled', isStart, look.atMost).catch(() => none)),
  ])
  return all.reduce((most, one) => ({
    x: Math.abs(one.x) > Math.abs(most.x) ? one.x : most.x,
    y: Math.abs(one.y) > Math.abs(most.y) ? one.y : most.y,
  }))
}
