import {
  type FetchQueryOptions,
  infiniteQueryOptions,
  QueryClient,
  type QueryKey,
  queryOptions,
  useInfiniteQuery,
  useMutation,
} from '@tanstack/react-query'
import { send } from './client.ts'
import { onReconnect } from './connection.ts'
import type { ApiRequest } from './request.ts'

/** Data are fresh until a change is reported (`changes.ts`), or for this time (ms). */
const freshMs = 60_000

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { staleTime: freshMs, retry: false, refetchOnWindowFocus: false, refetchOnReconnect: false },
  },
})
onReconnect(() => void queryClient.invalidateQueries())

const keyOf = ({ path, query = {} }: ApiRequest): QueryKey => [path, query]

/** A request as a query: `useQuery(query(get<Agent>(…)))`. Its key is the path, then the parameters. */
export function query<Answer>(request: ApiRequest<Answer>, options: { isShown?: boolean } = {}) {
  return queryOptions({
    queryKey: keyOf(request),
    queryFn: ({ signal }) => send(request, { signal, ...options }),
  })
}

interface ListMeta {
  total: number
  next_cursor?: string | null
}

/** The rows that a list in `ui/list.tsx` shows. */
export interface Rows<Row> {
  /** Undefined until the first page has arrived. */
  rows: Row[] | undefined
  total: number | undefined
  error: Error | null
  /** Loads the next page; undefined at the end. */
  loadMore: (() => void) | undefined
}

type Page<Row> = { meta: ListMeta } & Record<string, Row[] | ListMeta>

/** The query of a list by its cursor, 100 rows a page; `name` is the key of the rows in the response. */
export function listQuery<Row>(request: ApiRequest, name: string) {
  return infiniteQueryOptions({
    queryKey: [...keyOf(request), 'pages'],
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      send<Page<Row>>(
        { ...request, query: { limit: 100, ...request.query, cursor: pageParam } } as ApiRequest<Page<Row>>,
        { signal },
      ),
    getNextPageParam: ({ meta }) => meta.next_cursor ?? undefined,
    select: ({ pages }) => ({
      rows: pages.flatMap(page => page[name] as Row[]),
      total: pages[0]?.meta.total,
    }),
  })
}

/** A list that is loaded as it is scrolled: `useRows<Tool>(get(path), 'tools')`. */
export function useRows<Row>(request: ApiRequest, name: string): Rows<Row> {
  const { data, error, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    listQuery<Row>(request, name),
  )
  const loadMore = hasNextPage && !isFetchingNextPage ? () => void fetchNextPage() : undefined
  return { rows: data?.rows, total: data?.total, error, loadMore }
}

interface ChangeOptions<Input, Answer> {
  /** Paths whose queries, and those below, are fetched again after the change. */
  changes: readonly string[]
  onDone?(answer: Answer, input: Input): void
}

/** A change: `const save = useChange((body: New) => post<Tool>(path, { body }), { changes: [path] })`. */
export function useChange<Input, Answer>(
  requestOf: (input: Input) => ApiRequest<Answer>,
  { changes, onDone }: ChangeOptions<Input, Answer>,
) {
  return useMutation({
    mutationFn: (input: Input) => send(requestOf(input)),
    async onSuccess(answer, input) {
      onDone?.(answer, input)
      await invalidate(changes)
    },
  })
}

/**
 * Refetches the queries of these paths and below: at once where they are on screen. A first read that is in
 * progress might be older than the change, so it is repeated at its end.
 */
export async function invalidate(paths: readonly string[]): Promise<void> {
  const isBelow = ({ queryKey: [key] }: { queryKey: QueryKey }) =>
    paths.some(path => key === path || String(key).startsWith(path.endsWith('/') ? path : `${path}/`))
  const underWay = queryClient.getQueryCache().findAll({
    fetchStatus: 'fetching',
    predicate: query => isBelow(query) && query.state.data === undefined,
  })
  await queryClient.invalidateQueries({ predicate: isBelow })
  if (underWay.length === 0) return
  await Promise.allSettled(underWay.map(({ promise }) => promise))
  await queryClient.invalidateQueries({ predicate: query => underWay.includes(query) })
}

/** Reads data that just changed. A read in progress might be older, so it is awaited, not joined. */
export async function readAnew<Data, Key extends QueryKey>(
  options: FetchQueryOptions<Data, Error, Data, Key>,
): Promise<Data> {
  await queryClient
    .getQueryCache()
    .find({ queryKey: options.queryKey })
    ?.promise?.catch(() => {})
  return await queryClient.fetchQuery({ ...options, staleTime: 0 })
}

/** Changes the rows of every list of this path before the server answers; returns the undo function. */
export function patchRows<Row>(
  path: string,
  name: string,
  change: (rows: readonly Row[]) => readonly Row[],
): () => void {
  const entries = queryClient.getQueriesData<{ pages: Page<Row>[] }>({
    predicate: ({ queryKey }) => queryKey[0] === path && queryKey[2] === 'pages',
  })
  const undo = entries.map(([key]) =>
    patchKey<{ pages: Page<Row>[] }>(key, old => ({
      ...old,
      pages: old.pages.map(page => ({ ...page, [name]: change(page[name] as Row[]) }) as Page<Row>),
    })),
  )
  return () => {
    for (const one of undo) one()
  }
}

function patchKey<Data>(key: QueryKey, change: (old: Data) => Data): () => void {
  const before = queryClient.getQueryData<Data>(key)
  if (before === undefined) return () => {}
  queryClient.setQueryData<Data>(key, change(before))
  return () => queryClient.setQueryData<Data>(key, before)
}
