import { formatShare } from '#console/i18n/format.ts'

/** The progress, from 0 to 1; without `share` it is unknown. */
export function Progress({ label, share }: { label: string; share?: number }) {
  return (
    <div className="progress">
      <progress aria-label={label} value={share} max={1} />
      {share !== undefined && <span className="num">{formatShare(share)}</span>}
    </div>
  )
}
