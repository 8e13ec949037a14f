import { useQuery } from '@tanstack/react-query'
import { query } from '#console/api/query.ts'
import type { Feature } from '#console/shell/feature.ts'
import { countOf, getAttention } from './requests.ts'

const feature: Feature = {
  views: [
    {
      path: 'attention',
      title: { en: 'Needs you', de: 'Wartet auf Sie' },
      needs: 'read',
      load: () => import('./attention.tsx'),
      rail: {
        group: 'talk',
        order: 2,
        icon: 'inbox',
        key: 'n',
        useCount: agent => countOf(useQuery(query(getAttention(agent), { isShown: false })).data),
      },
    },
  ],
}
export default feature
