import { formatShare } from '#console/i18n/format.ts'

/** How far something is, from 0 to 1; without `share` it is not known. */
export function Progress({ label, share }: { label: string; share?: number }) {
  return (
    <div className="progress">
      <progress aria-label={label} value={share} max={1} />
      {share !== undefined && <span className="num">{formatShare(share)}</span>}
    </div>
  )
}
