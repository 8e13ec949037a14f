import { expect, it, vi } from 'vitest'
import { folderInMemory } from './folder-in-memory.ts'

it('no folder in memory is used where the container may get little of it, however much the machine has free', () => {
  const available = vi.spyOn(process, 'availableMemory').mockReturnValue(1024 ** 3)
  expect(folderInMemory()).toBeUndefined()
  available.mockRestore()
})
