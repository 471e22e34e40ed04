// Internal to the kernel side: collectives of a team inside a kernel. The members' data goes
// through scratch memory of the library in the symmetric heap, so the buffers of the caller may be
// any memory. Every vector core of the launch takes part; the cores share the work.
#ifndef SYMM_DEVICE_COLL_INL_H
#define SYMM_DEVICE_COLL_INL_H

#include "device/impl/barrier_inl.h"
#include "device/impl/coll_reduce_inl.h"

namespace symm_dev {

// A part of a range of elements or bytes.
struct Part {
  uint64_t from;
  uint64_t count;
};

// Part `index` of `parts` of [0, count), borders at multiples of `grain` so that no two parts share
// a cache line.
inline Part part_of(uint64_t count, uint64_t index, uint64_t parts, uint64_t grain) {
  const uint64_t each = ((count + parts - 1) / parts + grain - 1) / grain * grain;
  const uint64_t from = index * each < count ? index * each : count;
  return {from, count - from < each ? count - from : each};
}

// A piece of scratch that this core has taken; -1 for the cores that take none. Gives it back also
// when the kernel is unwound.
struct ScratchPiece {
  const symm_device_state* state;
  int number = -1;
  ~ScratchPiece() {
    if (number < 0) return;
    // release: what the members read from the piece is done
    __atomic_fetch_and(state->scratch_taken, ~(uint32_t{1} << number), __ATOMIC_RELEASE);
  }
};

// One collective call, as one core sees it. Takes a piece of scratch from the instance, publishes
// where it is, gives it back at the end.
class Collective {
 public:
  Collective(const symm_device_state* s, const aclshmemx_team_t* team, uint32_t kind,
             const char* call)
      : s_(s), team_(team), kind_(kind), call_(call), piece_{s} {
    const symm_core* core = symm_rt_core();
    core_ = static_cast<uint64_t>(core_index(core));
    cores_ = static_cast<uint64_t>(core->block_num * core->ratio);
    // The first core waits for the other members if they have not all made the team yet.
    if (core_ == 0) {
      slots_ = slots_of(s, team, call);
      take();
    }
    meet();
    slots_ = slots_of(s, team, call);
    // acquire and release are those of the barrier
    own_ = scratch_of(team->mype);
  }
  Collective(const Collective&) = delete;
  Collective& operator=(const Collective&) = delete;

  int members() const { return team_->size; }
  int me() const { return team_->mype; }
  uint64_t half_bytes() const { return s_->scratch_bytes / 2; }
  char* own(uint64_t which) const { return own_ + which * half_bytes(); }

  // Half `which` of the piece of a member.
  const char* of(int member, uint64_t which) const {
    return scratch_of(member) + which * half_bytes();
  }
  // What this core does of `count` units.
  Part mine(uint64_t count, uint64_t grain) const { return part_of(count, core_, cores_, grain); }

  // Every core of every member; release and acquire.
  void meet() const {
    full_fence();
    symm_rt_sync_all();
    if (core_ == 0) meet_team(s_, team_, call_, kind_);
    symm_rt_sync_all();
  }

 private:
  void take() {
    uint32_t taken = __atomic_load_n(s_->scratch_taken, __ATOMIC_RELAXED);
    for (;;) {
      const uint32_t free = ~taken & ((uint32_t{1} << s_->scratch_pieces) - 1);
      if (free == 0) {
        trap("%s on PE %d: more than %u collectives at once in kernels of this PE", call_,
             s_->base.mype, s_->scratch_pieces);
      }
      const int piece = __builtin_ctz(free);
      // acquire: pairs with the release of the one who gave the piece back
      if (__atomic_compare_exchange_n(s_->scratch_taken, &taken, taken | (uint32_t{1} << piece),
                                      false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        piece_.number = piece;
        break;
      }
    }
    // relaxed: read after the barrier that follows
    __atomic_store_n(&place_of(s_, team_, slots_, team_->mype)->scratch,
                     s_->scratch + static_cast<uint64_t>(piece_.number) * s_->scratch_bytes,
                     __ATOMIC_RELAXED);
  }

  char* scratch_of(int member) const {
    const int pe = team_->pe_mapping[member];
    if (s_->peer_sync[pe] == nullptr || s_->peer_heap[pe] == nullptr) unmapped(s_, pe, call_);
    return static_cast<char*>(s_->peer_heap[pe]) +
           __atomic_load_n(&place_of(s_, team_, slots_, member)->scratch, __ATOMIC_RELAXED);
  }

  const symm_device_state* s_;
  const aclshmemx_team_t* team_;
  uint32_t kind_;
  const char* call_;
  uint64_t core_ = 0;
  uint64_t cores_ = 0;
  const uint32_t* slots_ = nullptr;
  ScratchPiece piece_;
  char* own_ = nullptr;
};

// Traps on types and operations that are none.
inline uint64_t checked_size(const symm_device_state* s, int type, int op, const char* call) {
  const uint64_t size = size_of(static_cast<aclshmemx_data_type_t>(type));
  if (size == 0) trap("%s on PE %d: there is no data type %d", call, s->base.mype, type);
  if (op < ACLSHMEMX_SUM || op > ACLSHMEMX_MIN)
    trap("%s on PE %d: there is no operation %d", call, s->base.mype, op);
  return size;
}

constexpr uint64_t kCacheLine = 64;
constexpr uint64_t kDirectReduceBytes = 8192;

inline void copy_part(char* to, const char* from, Part part) {
  if (part.count != 0) memcpy(to + part.from, from + part.from, part.count);
}

// Every member reads everything and reduces it: one meeting per chunk. For few or small data.
inline void allreduce_direct(const Collective& c, const char* in, char* out, uint64_t count,
                             uint64_t size, aclshmemx_reduce_op_t op, aclshmemx_data_type_t type) {
  const uint64_t chunk = c.half_bytes() / size;
  for (uint64_t from = 0, turn = 0; from < count; from += chunk, turn ^= 1) {
    const uint64_t n = count - from < chunk ? count - from : chunk;
    const Part mine = c.mine(n, kCacheLine / size);
    copy_part(c.own(turn), in + from * size, {mine.from * size, mine.count * size});
    c.meet();
    auto copies = [&](int member) {
      return static_cast<const void*>(c.of(member, turn) + mine.from * size);
    };
    reduce_as(type, out + (from + mine.from) * size, copies, c.members(), mine.count, op);
  }
}

// Every member reduces its share of a chunk, then all collect the shares: two meetings per chunk.
inline void allreduce_shared(const Collective& c, const char* in, char* out, uint64_t count,
                             uint64_t size, aclshmemx_reduce_op_t op, aclshmemx_data_type_t type) {
  const uint64_t chunk = c.half_bytes() / size;
  const uint64_t line = kCacheLine / size;
  const auto members = static_cast<uint64_t>(c.members());
  for (uint64_t from = 0; from < count; from += chunk) {
    const uint64_t n = count - from < chunk ? count - from : chunk;
    const Part mine = c.mine(n, line);
    copy_part(c.own(0), in + from * size, {mine.from * size, mine.count * size});
    c.meet();
    const Part share = part_of(n, static_cast<uint64_t>(c.me()), members, line);
    const Part work = c.mine(share.count, line);
    const uint64_t at = (share.from + work.from) * size;
    auto copies = [&](int member) { return static_cast<const void*>(c.of(member, 0) + at); };
    reduce_as(type, c.own(1) + at, copies, c.members(), work.count, op);
    c.meet();
    for (int member = 0; member < c.members(); ++member) {
      const Part theirs = part_of(n, static_cast<uint64_t>(member), members, line);
      const Part piece = c.mine(theirs.count, line);
      copy_part(out + from * size, c.of(member, 1),
                {(theirs.from + piece.from) * size, piece.count * size});
    }
  }
}

inline void allreduce(const symm_device_state* s, const aclshmemx_team_t* team, const void* in,
                      void* out, uint64_t count, int op, int type, const char* call) {
  const uint64_t size = checked_size(s, type, op, call);
  Collective c(s, team, SYMM_CALL_ALLREDUCE, call);
  auto* run =
      team->size <= 2 || count * size <= kDirectReduceBytes ? allreduce_direct : allreduce_shared;
  run(c, static_cast<const char*>(in), static_cast<char*>(out), count, size,
      static_cast<aclshmemx_reduce_op_t>(op), static_cast<aclshmemx_data_type_t>(type));
  c.meet();
}

// out[m] = in of member m.
inline void allgather(const symm_device_state* s, const aclshmemx_team_t* team, const void* in,
                      void* out, uint64_t bytes, const char* call) {
  Collective c(s, team, SYMM_CALL_ALLGATHER, call);
  for (uint64_t from = 0, turn = 0; from < bytes; from += c.half_bytes(), turn ^= 1) {
    const uint64_t n = bytes - from < c.half_bytes() ? bytes - from : c.half_bytes();
    const Part mine = c.mine(n, kCacheLine);
    copy_part(c.own(turn), static_cast<const char*>(in) + from, mine);
    c.meet();
    for (int step = 0; step < c.members(); ++step) {
      // starts with the own one: not all read the same member at once
      const int member = (c.me() + step) % c.members();
      copy_part(static_cast<char*>(out) + static_cast<uint64_t>(member) * bytes + from,
                c.of(member, turn), mine);
    }
  }
  c.meet();
}

inline void broadcast(const symm_device_state* s, const aclshmemx_team_t* team, const void* in,
                      void* out, uint64_t bytes, int root, const char* call) {
  if (root < 0 || root >= team->size) {
    trap("%s on PE %d: root %d is no member of team %d of %d PEs", call, s->base.mype, root,
         team->team_idx, team->size);
  }
  Collective c(s, team, SYMM_CALL_BROADCAST, call);
  for (uint64_t from = 0, turn = 0; from < bytes; from += c.half_bytes(), turn ^= 1) {
    const uint64_t n = bytes - from < c.half_bytes() ? bytes - from : c.half_bytes();
    const Part mine = c.mine(n, kCacheLine);
    if (c.me() == root) copy_part(c.own(turn), static_cast<const char*>(in) + from, mine);
    c.meet();
    copy_part(static_cast<char*>(out) + from, c.of(root, turn), mine);
  }
  c.meet();
}

// Runs use(from, n, turn) for the chunks of `count` elements per member, when the elements
// [from, from + n) of all members' slices lie in the scratch, slice m at m * n * size.
template <typename Use>
inline void exchange_slices(const Collective& c, const char* in, uint64_t count, uint64_t size,
                            const char* call, const Use& use) {
  const auto members = static_cast<uint64_t>(c.members());
  const uint64_t chunk = c.half_bytes() / (members * size);
  if (chunk == 0) trap("%s: a team of %d PEs is too large for it", call, c.members());
  for (uint64_t from = 0, turn = 0; from < count; from += chunk, turn ^= 1) {
    const uint64_t n = count - from < chunk ? count - from : chunk;
    const Part mine = c.mine(n, kCacheLine / size);
    for (uint64_t member = 0; member < members; ++member) {
      if (mine.count == 0) break;
      memcpy(c.own(turn) + (member * n + mine.from) * size,
             in + (member * count + from + mine.from) * size, mine.count * size);
    }
    c.meet();
    if (mine.count != 0) use(from, n, mine, turn);
  }
  c.meet();
}

inline void reduce_scatter(const symm_device_state* s, const aclshmemx_team_t* team, const void* in,
                           void* out, uint64_t count, int op, int type, const char* call) {
  const uint64_t size = checked_size(s, type, op, call);
  Collective c(s, team, SYMM_CALL_REDUCE_SCATTER, call);
  auto use = [&](uint64_t from, uint64_t n, Part mine, uint64_t turn) {
    const uint64_t at = (static_cast<uint64_t>(c.me()) * n + mine.from) * size;
    auto copies = [&](int member) { return static_cast<const void*>(c.of(member, turn) + at); };
    reduce_as(static_cast<aclshmemx_data_type_t>(type),
              static_cast<char*>(out) + (from + mine.from) * size, copies, c.members(), mine.count,
              static_cast<aclshmemx_reduce_op_t>(op));
  };
  exchange_slices(c, static_cast<const char*>(in), count, size, call, use);
}

inline void alltoall(const symm_device_state* s, const aclshmemx_team_t* team, const void* in,
                     void* out, uint64_t count, uint64_t size, const char* call) {
  Collective c(s, team, SYMM_CALL_ALLTOALL, call);
  auto use = [&](uint64_t from, uint64_t n, Part mine, uint64_t turn) {
    const uint64_t at = (static_cast<uint64_t>(c.me()) * n + mine.from) * size;
    for (int step = 0; step < c.members(); ++step) {
      const int member = (c.me() + step) % c.members();
      memcpy(static_cast<char*>(out) +
                 (static_cast<uint64_t>(member) * count + from + mine.from) * size,
             c.of(member, turn) + at, mine.count * size);
    }
  };
  exchange_slices(c, static_cast<const char*>(in), count, size, call, use);
}

}  // namespace symm_dev
#endif
