// Pushes or handles jobs with BullMQ: `node peer.js push|work URL JOBS AT_ONCE`. Prints the seconds that it took.
import { Queue, Worker } from 'bullmq';

const [what, url, jobs, atOnce] = process.argv.slice(2);
const [count, concurrency] = [Number(jobs), Number(atOnce)];
const connection = { host: new URL(url).hostname, port: Number(new URL(url).port) };
const task = (number) => ({ name: `picture-${number}.png`, size: number, note: 'x'.repeat(200) });

if (what === 'push') {
  const queue = new Queue('work', { connection });
  await queue.waitUntilReady();
  const began = performance.now();
  let next = 0;
  const pushing = async () => {
    for (let number = next++; number < count; number = next++) {
      await queue.add('resize', task(number), { jobId: `job-${number}`, attempts: 3, removeOnComplete: true });
    }
  };
  await Promise.all(Array.from({ length: concurrency }, pushing));
  console.log((performance.now() - began) / 1000);
  await queue.close();
} else {
  let left = count;
  let done;
  const all = new Promise((resolve) => (done = resolve));
  const began = performance.now();
  const worker = new Worker('work', async (job) => job.data.size, { connection, concurrency });
  worker.on('completed', () => --left === 0 && done());
  worker.on('error', (error) => console.error(error));
  await all;
  console.log((performance.now() - began) / 1000);
  await worker.close();
}
