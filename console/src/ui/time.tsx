import { useSyncExternalStore } from 'react'
import { useStore } from '#console/api/store.ts'
import { formatExactTime, formatTime } from '#console/i18n/format.ts'
import { language } from '#console/i18n/text.ts'

const tickMs = 30_000

/** Returns the time in steps of half a minute, for all relative times. */
function useNow(): number {
  return useSyncExternalStore(
    listener => {
      const timer = setInterval(listener, tickMs)
      return () => clearInterval(timer)
    },
    () => Math.ceil(Date.now() / tickMs) * tickMs,
  )
}

/** A time of the API: relative within a day, exact on hovering. */
export function Time({ at }: { at: string }) {
  useStore(language)
  const now = useNow()
  const time = new Date(at)
  return (
    <time dateTime={at} title={formatExactTime(time)} className="num">
      {formatTime(time, now)}
    </time>
  )
}
