/** For a world in which nobody has registered an address. */
import type { PostAviso } from '../../src/base/world/world.ts';

export const noAvisos: PostAviso = () => Promise.reject(new Error('nothing is told to anybody here'));
