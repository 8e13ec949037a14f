/**
 * The part of a large table that one run of the tests takes. Each day has another quarter, so that four days take them all;
 * `npm run test:endurance` takes them at once. ROTATION, from 0 to 3, chooses the quarter.
 */
import { isFullEndurance } from './endurance.ts'

const parts = 4

/** Returns the quarter of today. */
export function rotationOf(day: Date): string {
  return String(Math.floor(day.getTime() / 86_400_000) % parts)
}

/** Whether this run takes the entry with that number in its table. */
export function isInRotation(entry: number): boolean {
  return isFullEndurance || entry % parts === Number(process.env.ROTATION ?? 0)
}
