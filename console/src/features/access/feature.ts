import type { Feature } from '#console/shell/feature.ts'
import { defineView } from '#console/shell/view.ts'

export const peopleSearch = { tab: ['people', 'invitations', 'keys'] } as const
export const accountSearch = { tab: ['keys', 'sessions'] } as const

const feature: Feature = {
  views: [
    defineView({
      path: 'people',
      search: peopleSearch,
      title: { en: 'People and keys', de: 'Personen und Schlüssel' },
      needs: 'read',
      load: () => import('./people.tsx'),
      rail: { group: 'setUp', order: 3, icon: 'shield' },
    }),
    defineView({
      path: 'account',
      search: accountSearch,
      title: { en: 'Your account', de: 'Ihr Konto' },
      needs: 'any',
      load: () => import('./account.tsx'),
    }),
  ],
  commands: [
    {
      id: 'account',
      title: { en: 'Your account: keys and sessions', de: 'Ihr Konto: Schlüssel und Sitzungen' },
      icon: 'key',
      needs: 'any',
      to: 'account',
    },
  ],
}
export default feature
