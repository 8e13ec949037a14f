/**
 * Asks addresses over and over again, each request due at a time of its own whatever became of the one before, and tells when
 * it is asked to what they took, in milliseconds, those that had to wait included. A program of its own, since one that
 * uploads at the same time would measure itself, and for the same reason ready only after a first answer of each: with its
 * first request a process loads what it needs for all of them. Parameters: the addresses. A line on its input ends it.
 */
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'

const everyMs = 20
const addresses = process.argv.slice(2)
const taken: Promise<number>[][] = addresses.map(() => [])
let isOver = false
const end = once(process.stdin, 'data').then(() => {
  isOver = true
})
for (const address of addresses) await ask(address, performance.now())
console.log('ready')
const begun = performance.now()
for (let number = 0; !isOver; number += 1) {
  const due = begun + number * everyMs
  await Promise.race([end, delay(Math.max(0, due - performance.now()))])
  for (const [at, address] of addresses.entries()) taken[at]?.push(ask(address, due))
}
console.log(JSON.stringify(await Promise.all(taken.map(times => Promise.all(times)))))
process.stdin.destroy()

async function ask(address: string, due: number): Promise<number> {
  const response = await fetch(address)
  await response.arrayBuffer()
  return performance.now() - due
}
