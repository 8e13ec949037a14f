import { useStore } from '#console/api/store.ts'
import { formatBytes, formatNumber } from '#console/i18n/format.ts'
import { language } from '#console/i18n/text.ts'

/** A number in the current language, with digits of one width. */
export function Num({ value }: { value: number }) {
  useStore(language)
  return <span className="num">{formatNumber(value)}</span>
}

export function Bytes({ value }: { value: number }) {
  useStore(language)
  return <span className="num">{formatBytes(value)}</span>
}
