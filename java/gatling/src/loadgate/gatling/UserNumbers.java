package loadgate.gatling;

import java.util.Arrays;

/**
 * Tells the users of a scenario apart by the times of their requests, which Gatling itself does not: a user sends one after the other, so
 * requests at the same time are those of different users. Where users load resources side by side there are more requests than users;
 * the numbers never are.
 */
final class UserNumbers {
  /** When the latest request of each number ended, in order; and the numbers, of equal ends the one that has waited longest first. */
  private long[] ends = new long[64];
  private int[] numbers = new int[64];
  private int count;
  private int mostUsers;

  /** The number of the user who had this request, from 1. */
  synchronized int of(long startMs, long endMs, int users) {
    mostUsers = Math.max(mostUsers, users);
    int after = firstAfter(startMs);
    boolean isNew = after == 0 && count < Math.max(1, mostUsers);
    int number = isNew ? count + 1 : take(after == 0 ? 0 : firstAfter(ends[after - 1] - 1));
    int at = firstAfter(endMs);
    if (count == ends.length) {
      ends = Arrays.copyOf(ends, 2 * count);
      numbers = Arrays.copyOf(numbers, 2 * count);
    }
    System.arraycopy(ends, at, ends, at + 1, count - at);
    System.arraycopy(numbers, at, numbers, at + 1, count - at);
    ends[at] = endMs;
    numbers[at] = number;
    count++;
    return number;
  }

  private int take(int at) {
    int number = numbers[at];
    count--;
    System.arraycopy(ends, at + 1, ends, at, count - at);
    System.arraycopy(numbers, at + 1, numbers, at, count - at);
    return number;
  }

  /** The index of the first one that ended after this. */
  private int firstAfter(long ms) {
    int low = 0;
    int high = count;
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (ends[middle] <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
