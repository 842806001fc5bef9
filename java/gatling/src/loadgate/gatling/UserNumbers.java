package loadgate.gatling;

import java.util.ArrayDeque;
import java.util.Map;
import java.util.TreeMap;

/**
 * Tells the users of a scenario apart by the times of their requests, which Gatling itself does not: a user sends one after the other, so
 * requests at the same time are those of different users. Where users load resources side by side there are more requests than users;
 * the numbers never are.
 */
final class UserNumbers {
  /** The numbers by the end of their latest request. */
  private final TreeMap<Long, ArrayDeque<Integer>> free = new TreeMap<>();
  private int count;
  private int mostUsers;

  /** The number of the user who had this request, from 1. */
  synchronized int of(long startMs, long endMs, int users) {
    mostUsers = Math.max(mostUsers, users);
    Map.Entry<Long, ArrayDeque<Integer>> before = free.floorEntry(startMs);
    if (before == null && count >= Math.max(1, mostUsers)) before = free.firstEntry();
    int number = before == null ? ++count : take(before);
    free.computeIfAbsent(endMs, first -> new ArrayDeque<>()).add(number);
    return number;
  }

  private int take(Map.Entry<Long, ArrayDeque<Integer>> entry) {
    int number = entry.getValue().remove();
    if (entry.getValue().isEmpty()) free.remove(entry.getKey());
    return number;
  }
}
