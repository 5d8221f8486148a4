/** A stub for a world without registered notification addresses. */
import type { PostAviso } from '../../src/base/world/world.ts';

export const noAvisos: PostAviso = () => Promise.reject(new Error('nothing is told to anybody here'));
