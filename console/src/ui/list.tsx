import { Link } from '@tanstack/react-router'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { Rows } from '#console/api/query.ts'
import { frameText } from '#console/i18n/frame-text.ts'
import { useText } from '#console/i18n/text.ts'
import { Button } from './button.tsx'
import { Problem } from './empty.tsx'

export interface Column<Row> {
  title: string
  cell(row: Row): ReactNode
  /** True to align numbers and buttons at the end. */
  isAtEnd?: boolean
  /** True if only screen readers get the title. */
  isTitleHidden?: boolean
}

interface ListProps<Row> extends Rows<Row> {
  label: string
  columns: readonly Column<Row>[]
  keyOf(row: Row): string
  /** Returns the target of the whole row; the link is on the first cell. */
  linkOf?(row: Row): string
  /** Shown instead of a list without rows. */
  empty: ReactNode
}

/** A list that is loaded by its cursor: `<List {...useRows(…)} …/>`. On phones each row takes two lines. */
export function List<Row>(props: ListProps<Row>) {
  const { label, columns, rows, keyOf, linkOf, error, empty, loadMore } = props
  if (error && rows === undefined) return <Problem error={error} />
  if (rows === undefined) return <Placeholder label={label} />
  if (rows.length === 0) return empty
  return (
    <>
      <div className="card">
        <table className="list">
          <caption className="sr">{label}</caption>
          <thead>
            <tr>
              {columns.map(({ title, isAtEnd, isTitleHidden }) => (
                <th key={title} scope="col" className={isAtEnd ? 'end' : undefined}>
                  <span className={isTitleHidden ? 'sr' : undefined}>{title}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(row => (
              <tr key={keyOf(row)} className={linkOf && 'linked'}>
                {columns.map(({ title, cell, isAtEnd }, at) => (
                  <td key={title} className={isAtEnd ? 'end' : undefined}>
                    {at === 0 && linkOf ? (
                      <Link to={linkOf(row)} className="row-link">
                        {cell(row)}
                      </Link>
                    ) : (
                      cell(row)
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {loadMore && <LoadMore onReach={loadMore} />}
    </>
  )
}

/** Loads the next page when its place comes near, and by a button. */
function LoadMore({ onReach }: { onReach(): void }) {
  const t = useText(frameText)
  const place = useRef<HTMLDivElement>(null)
  const reach = useRef(onReach)
  reach.current = onReach
  useEffect(() => {
    const watch = new IntersectionObserver(
      entries => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) reach.current()
      },
      { rootMargin: '400px' },
    )
    if (place.current) watch.observe(place.current)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={place} className="load-more">
      <Button onClick={onReach}>{t.loadMore}</Button>
    </div>
  )
}

const placeholderAfterMs = 200
const placeholders = ['a', 'b', 'c', 'd', 'e']

/** Placeholder rows without motion, if the list takes longer than a moment. */
function Placeholder({ label }: { label: string }) {
  const t = useText(frameText)
  const [isShown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), placeholderAfterMs)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div className={`card placeholder${isShown ? '' : ' waiting'}`}>
      <span className="sr" role="status">
        {isShown && `${label}: ${t.loading}`}
      </span>
      {placeholders.map(name => (
        <div key={name} />
      ))}
    </div>
  )
}
